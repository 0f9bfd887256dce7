#pragma once

#include <memory>
#include <string>

#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/reading_process.hpp"

namespace coldtrace::ntfs {

// A VMDK whose descriptor names files with the disk's raw bytes, or extents of zeros.
struct FlatExtents {
  std::unique_ptr<DiskMap> map;
  u64 size = 0;
  // Every extent is a file from its first byte on. Others are not left to libvmdk 20200926: it
  // takes offsets, which are in sectors, for bytes, and opens no disk with extents of zeros.
  bool simple = true;
};

// No map if an extent is of another kind or the disk has a parent; nor, with a problem, if a file
// is missing.
FlatExtents open_flat_extents(const std::string& path, OpenProblem& problem);

}  // namespace coldtrace::ntfs
