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
    parent,   // what the parent has there, or zeros without a parent
    zeros,    // zeros, whatever the parent has there
    file,     // in a file, as stored
    library,  // not known: the library has to read them
  };
  Where where = Where::library;
  u64 length = 0;  // bytes from the offset that was asked for, at least one
  const core::ImageSource* file = nullptr;
  u64 offset = 0;  // in that file
};

// Tells where the bytes of a virtual disk are, for images about which the format's library is
// wrong. Tables are read entry by entry as needed.
class DiskMap {
 public:
  DiskMap() = default;
  DiskMap(const DiskMap&) = delete;
  DiskMap& operator=(const DiskMap&) = delete;
  virtual ~DiskMap() = default;

  // The offset of an error is that of the wrong table entry in its file.
  virtual core::Result<MappedBytes> find(u64 offset) const = 0;
};

// A map, or none, which is not an error: the library then reads all of the disk right.
struct OpenedMap {
  static OpenedMap refused(std::string why) {
    OpenedMap opened;
    opened.refusal = std::move(why);
    return opened;
  }

  std::unique_ptr<DiskMap> map;
  std::string refusal;  // why the disk cannot be read; empty if it can
  bool needs_parent = false;
  // For a disk that needs no library: its size, and its parent's name, empty if there is none.
  std::optional<u64> size;
  std::string parent;
  std::string parent_format;    // "raw"; empty if the image does not say
  std::string parent_identity;  // of a VHDX: the identity its parent must have
  bool corrupt = false;         // QEMU found damage in the tables of a QCOW2 image
};

// For any QCOW2 image, the complete map. libqcow 20201213 returns the parent's bytes for all of a
// read that begins in a cluster which the child lacks, does not know zero clusters, and returns
// stale memory for a truncated compressed cluster.
OpenedMap open_qcow_map(const std::string& path);

// Whether a file that begins as a QCOW2 image has the tables of one.
bool is_sound_qcow(const core::ImageSource& file);

// For a VHD with a parent: libvhdi 20210425 takes all sectors after one that the child has, in the
// same byte of the bitmap, for the child's. For a dynamic VHD whose footer is lost, the complete
// map: libvhdi does not open it. None for others.
OpenedMap open_vhd_map(const std::string& path);

// For a VHDX with a parent, the complete map: libvhdi does not open children with partially present
// blocks.
OpenedMap open_vhdx_map(const std::string& path);
// Whether a file that begins as a VHDX has a header with a valid checksum.
bool is_sound_vhdx(const core::ImageSource& file);
// Whether a VHDX still has the data on which a child is based, by the GUID stored in the child.
bool is_vhdx_of_identity(const core::ImageSource& file, std::string_view identity);

}  // namespace coldtrace::ntfs
