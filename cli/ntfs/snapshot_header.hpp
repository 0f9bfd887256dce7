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

// The line that begins a volume in a snapshot. Missing members, and those of the wrong type, count
// as absent.
struct SnapshotHeader {
  ntfs::Partition partition;  // its `kind` is not known
  u64 disk_size = 0;
  u32 sector_size = 512;
  bool of_mft_alone = false;  // of a copied $MFT
  ntfs::ClusterMap clusters;  // size 0 if not known, or if impossible
  u32 record_size = 0;
  std::vector<ntfs::Extent> mft;
  std::string tool;
  // The members as JSON, as read; "null" if absent.
  std::string disk, partition_json, volume, names;

  u32 shadow() const { return partition.shadow ? partition.shadow->number : 0; }
  // A volume may begin after the start of its partition.
  u64 start() const {
    return clusters.cluster_size > 0 ? clusters.volume_offset : partition.offset;
  }
  VolumeName name(std::string_view path) const {
    return {path, partition.number, start(), shadow()};
  }
};

// Reads a line for which is_snapshot_header(); nothing if it is too deep to be one.
std::optional<SnapshotHeader> read_snapshot_header(const rapidjson::Value& json, Int64 int64);

// A member whose value is JSON as read.
void write_read_member(JsonWriter& json, std::string_view name, std::string_view value);

}  // namespace coldtrace::cli
