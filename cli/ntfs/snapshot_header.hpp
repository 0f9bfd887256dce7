#pragma once

#include <optional>
#include <string>
#include <vector>

#include <rapidjson/fwd.h>

#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/extents.hpp"

namespace coldtrace::cli {

// The line that begins a volume of a snapshot. What it lacks, or has of another type, counts as
// none.
struct SnapshotHeader {
  ntfs::Partition partition;  // its `kind` is not known
  u64 disk_size = 0;
  u32 sector_size = 512;
  bool of_mft_alone = false;  // of a $MFT that was copied out
  ntfs::ClusterMap clusters;  // of no size where that is not known, or what is said cannot be
  u32 record_size = 0;
  std::vector<ntfs::Extent> mft;
  std::string tool;
  // The members as JSON, as they stand there; "null" where there is none.
  std::string disk, partition_json, volume, names;

  u32 shadow() const { return partition.shadow ? partition.shadow->number : 0; }
  // A volume may begin further on than its partition.
  u64 start() const {
    return clusters.cluster_size > 0 ? clusters.volume_offset : partition.offset;
  }
  VolumeName name(std::string_view path) const {
    return {path, partition.number, start(), shadow()};
  }
};

// Of a line that is_snapshot_header(); nothing of one that is too deep to be any.
std::optional<SnapshotHeader> read_snapshot_header(const rapidjson::Value& json, Int64 int64);

// A member whose value is JSON that was read.
void write_read_member(JsonWriter& json, std::string_view name, std::string_view value);

}  // namespace coldtrace::cli
