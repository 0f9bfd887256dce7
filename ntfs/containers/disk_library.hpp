#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/file_kind.hpp"

namespace coldtrace::ntfs {

// libvhdi, libqcow and libvmdk have the same functions under different names. These are the ones
// that are used, as declared by libvhdi 20210425, libqcow 20201213 and libvmdk 20200926. The
// libraries are loaded when an image needs them, each with its symbols kept local (RTLD_LOCAL):
// each has its own copy of libbfio.
struct DiskLibrary {
  struct Handle;
  struct Extent;
  using Error = void;
  static constexpr int open_for_reading = 1;

  core::Name structure;  // what it reads
  core::Name name;
  int (*initialize)(Handle**, Error**) = nullptr;
  int (*free)(Handle**, Error**) = nullptr;
  int (*open)(Handle*, const char* path, int access, Error**) = nullptr;
  int (*close)(Handle*, Error**) = nullptr;
  int (*get_media_size)(Handle*, u64*, Error**) = nullptr;
  ssize_t (*read)(Handle*, void*, std::size_t, off64_t, Error**) = nullptr;
  int (*set_parent)(Handle*, Handle* parent, Error**) = nullptr;
  int (*get_parent_name_size)(Handle*, std::size_t*, Error**) = nullptr;
  int (*get_parent_name)(Handle*, u8*, std::size_t, Error**) = nullptr;
  // Only in libvmdk, whose images have their data in other files.
  int (*get_extent_count)(Handle*, int*, Error**) = nullptr;
  int (*get_extent)(Handle*, int index, Extent**, Error**) = nullptr;
  int (*free_extent)(Extent**, Error**) = nullptr;
  int (*get_extent_name_size)(Extent*, std::size_t*, Error**) = nullptr;
  int (*get_extent_name)(Extent*, u8*, std::size_t, Error**) = nullptr;
  int (*open_extents)(Handle*, Error**) = nullptr;

  bool loaded() const { return initialize != nullptr; }
};

// The library for a kind of file; null if none reads it. If it is not installed, loaded() is false.
const DiskLibrary* disk_library(core::FileKind kind);

// Reads a name from a library: first its size, which includes the NUL. Nothing if there is none.
template <class Object>
std::optional<std::string> read_name(Object* object,
                                     int (*get_size)(Object*, std::size_t*, DiskLibrary::Error**),
                                     int (*get)(Object*, u8*, std::size_t, DiskLibrary::Error**)) {
  constexpr std::size_t longest = std::size_t{64} * 1024;
  std::size_t size = 0;
  if (get_size(object, &size, nullptr) != 1 || size <= 1 || size > longest) return std::nullopt;
  std::vector<u8> bytes(size);
  if (get(object, bytes.data(), size, nullptr) != 1) return std::nullopt;
  return std::string{bytes.begin(), bytes.end() - 1};
}

}  // namespace coldtrace::ntfs
