#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/ntfs/locate/locate_rows.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/ntfs/locate/disk_area.hpp"

namespace coldtrace::cli {

// A volume in which places may be.
struct LocatedVolume {
  ntfs::VolumeArea area;
  VolumeName name;
  // Finds whose the bytes at these offsets are; the offsets are sorted, distinct and in its
  // clusters.
  std::function<std::vector<ntfs::Place>(std::span<const u64>)> find;
};

// The disk on which places are.
struct LocatedDisk {
  u64 size = 0;
  u32 sector_size = 512;
  std::vector<ntfs::Partition> partitions;
  bool of_snapshot = false;  // the rest of the disk is not known
};

// Answers places a batch at a time.
class Locator {
 public:
  // `volumes` are views of the same time; places outside all are answered only by the `first` of
  // several locators.
  Locator(const LocatedDisk& disk, std::vector<LocatedVolume> volumes, bool first);

  void locate(const std::vector<AskedPlace>& asked,
              const std::function<void(const LocatedPlace&)>& write);

  std::size_t volumes() const { return volumes_.size(); }
  const std::map<std::string, u64, std::less<>>& counts() const { return counts_; }
  const core::NoMatch& unmatched() const { return unmatched_; }

 private:
  // The byte offset of a place, and what is known about it without a file system.
  struct Aim {
    std::optional<u64> offset;
    ntfs::DiskArea area;
  };
  Aim aim(const AskedPlace& asked);
  Aim aim_at_cluster(const AskedPlace& asked);
  std::string_view name_of_area(ntfs::DiskArea::Kind kind) const;

  const LocatedDisk& disk_;
  std::vector<LocatedVolume> volumes_;
  bool first_;
  std::vector<ntfs::VolumeArea> areas_;
  std::map<std::string, u64, std::less<>> counts_;
  core::NoMatch unmatched_;
};

}  // namespace coldtrace::cli
