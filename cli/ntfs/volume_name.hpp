#pragma once

#include <string>
#include <string_view>

#include "cli/output/json.hpp"
#include "coldtrace/ntfs/partition.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::cli {

// Which volume of which image a row is of: without the folder of the image, which is this run's.
struct VolumeName {
  VolumeName(std::string_view path, u32 number, u64 offset)
      : image{path.substr(path.rfind('/') + 1)}, partition{number}, start{offset} {}
  VolumeName(std::string_view path, const ntfs::Partition& of, const ntfs::Volume& volume)
      : VolumeName{path, of.number, volume.offset()} {}

  std::string image;
  u32 partition;  // 0: of an image without partitions
  u64 start;      // byte of the image
};

// The member "volume" of a row: "image", "partition", "start".
void write_volume_name(JsonWriter& json, const VolumeName& volume);
// The same behind other members: ,"volume":{…}
std::string volume_member(const VolumeName& volume, Int64 int64);

// The cells of the columns volume_image, volume_partition, volume_start.
std::string volume_cells(const VolumeName& volume);
constexpr std::string_view volume_columns = "volume_image,volume_partition,volume_start";

// What stands before paths where a row has no other place for its volume: "/partition2". Nothing
// of an image without partitions.
std::string path_prefix(u32 partition);

}  // namespace coldtrace::cli
