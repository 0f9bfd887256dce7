#pragma once

#include <memory>
#include <string>

#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/reading_process.hpp"

namespace coldtrace::ntfs {

// A VMDK whose descriptor names files that have the disk's bytes as they are, or zeros.
struct FlatExtents {
  std::unique_ptr<DiskMap> map;
  u64 size = 0;
  // Each is a file from its first byte on: libvmdk 20200926 takes offsets, which are sectors, for
  // bytes, and opens no disk with zeros.
  bool simple = true;
};

// No map where an extent is of another kind, or the disk has a parent; or with a problem, where a
// file is not there.
FlatExtents open_flat_extents(const std::string& path, OpenProblem& problem);

}  // namespace coldtrace::ntfs
