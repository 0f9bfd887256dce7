#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::ntfs {

// Bytes of a virtual disk that lie in one place.
struct MappedBytes {
  enum class Where : u8 {
    parent,   // what the parent has there, or zeros where there is none
    zeros,    // zeros, whatever the parent has
    file,     // in a file, as they are
    library,  // not known: the library has to be asked
  };
  Where where = Where::library;
  u64 length = 0;  // bytes from the offset that was asked for, at least one
  const core::ImageSource* file = nullptr;
  u64 offset = 0;  // in that file
};

// Says where the bytes of a virtual disk are, where the library that reads the format says what the
// disk does not hold. Tables are read entry by entry when they are needed.
class DiskMap {
 public:
  DiskMap() = default;
  DiskMap(const DiskMap&) = delete;
  DiskMap& operator=(const DiskMap&) = delete;
  virtual ~DiskMap() = default;

  // The error has the offset in the file whose table is wrong.
  virtual core::Result<MappedBytes> find(u64 offset) const = 0;
};

// A map or none, which is not an error: the library is right about all of the disk.
struct OpenedMap {
  static OpenedMap refused(std::string why) {
    OpenedMap opened;
    opened.refusal = std::move(why);
    return opened;
  }

  std::unique_ptr<DiskMap> map;
  std::string refusal;  // why the disk cannot be read; empty where it can
  bool needs_parent = false;
  // Of a disk that needs no library: its bytes, and its parent's name, empty where there is none.
  std::optional<u64> size;
  std::string parent;
  std::string parent_format;    // "raw"; empty where the image does not say it
  std::string parent_identity;  // of a VHDX: what its parent has to be
  bool corrupt = false;         // QEMU found damage in the tables of a QCOW2 image
};

// Of a QCOW2 image, all of it. libqcow 20201213 gives the parent's bytes for all of a read that
// begins in a cluster which the child lacks, does not know clusters of zeros, and gives what its
// memory had of a compressed cluster that is cut off.
OpenedMap open_qcow_map(const std::string& path);

// Whether a file that begins as a QCOW2 image has the tables of one.
bool is_sound_qcow(const core::ImageSource& file);

// Of a VHD that has a parent: libvhdi 20210425 takes a sector that the child has for the first of
// all that follow in its byte of the bitmap. Of a dynamic one whose footer is lost, all of it:
// libvhdi does not open it. None for others.
OpenedMap open_vhd_map(const std::string& path);

// Of a VHDX that has a parent, all of it: libvhdi does not open children whose blocks are there in
// part.
OpenedMap open_vhdx_map(const std::string& path);
// Whether a file that begins as a VHDX has a header whose checksum fits.
bool is_sound_vhdx(const core::ImageSource& file);
// Whether the data of a VHDX is what a child was made with, by the GUID that the child has of it.
bool is_vhdx_of_identity(const core::ImageSource& file, std::string_view identity);

}  // namespace coldtrace::ntfs
