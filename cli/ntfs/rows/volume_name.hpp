#pragma once

#include <string>
#include <string_view>

#include "cli/output/json.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::cli {

// The volume and image of a row, without the image's folder, which concerns only this run.
struct VolumeName {
  VolumeName(std::string_view path, u32 number, u64 offset, u32 copy = 0)
      : image{path.substr(path.rfind('/') + 1)}, partition{number}, start{offset}, shadow{copy} {}
  VolumeName(std::string_view path, const ntfs::Partition& of, const ntfs::Volume& volume)
      : VolumeName{path, of.number, volume.offset(), of.shadow ? of.shadow->number : 0} {}

  std::string image;
  u32 partition;  // 0: an image without partitions
  u64 start;      // byte of the image
  u32 shadow;     // number of the shadow copy; 0: the current state
};

// The member "volume" of a row: "image", "partition", "start", "shadow".
void write_volume_name(JsonWriter& json, const VolumeName& volume);
// The same after other members: ,"volume":{…}
std::string volume_member(const VolumeName& volume, Int64 int64);

// The cells of the volume name columns.
std::string volume_cells(const VolumeName& volume);
constexpr std::string_view volume_columns =
    "volume_image,volume_partition,volume_start,volume_shadow";
constexpr std::string_view no_volume_cells = ",,,";

// What precedes paths if a row has no other place for its volume: "/partition2/shadow1". Empty for
// the current state of an image without partitions.
std::string path_prefix(u32 partition, u32 shadow);
std::string path_prefix(const VolumeName& volume);

// "disk.img partition 2 shadow copy 1"; numbers that are 0 are left out.
std::string volume_title(std::string_view image, u32 partition, u32 shadow);

}  // namespace coldtrace::cli
