#include "cli/ntfs_input.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/other_kind.hpp"
#include "core/file.hpp"
#include "ntfs/ewf_image.hpp"

namespace coldtrace::cli {
namespace {

using core::FileKind;
using ntfs::Partition;

core::Result<std::unique_ptr<core::ImageSource>> open_image(const std::string& path,
                                                            std::string& container) {
  auto file = COLDTRACE_TRY(core::FileImage::open(path));
  std::array<std::byte, 16> head{};
  container = "raw";
  if (file->read_at(0, std::span{head}.first(std::min<u64>(file->size(), head.size()))) &&
      ntfs::is_ewf(head)) {
    container = "ewf";
    return ntfs::open_ewf(path);
  }
  return std::unique_ptr<core::ImageSource>{std::move(file)};
}

constexpr std::string_view wanted = "a disk or volume with NTFS";

// Nothing of the kinds that are known; it may be damaged.
bool is_damaged(FileKind kind) {
  return kind == FileKind::unknown || kind == FileKind::zeros;
}

// A partition that is meant to be NTFS even if its first sector is damaged.
bool may_be_ntfs(const Partition& partition) {
  if (partition.kind == FileKind::ntfs_volume) return true;
  return is_damaged(partition.kind) &&
         (partition.type == "0x07" || partition.type == "ebd0a0a2-b9e5-4433-87c0-68b6b72699c7");
}

// Files that hold a disk in another arrangement: what looks like NTFS in them is not in its place.
bool is_other_container(FileKind kind) {
  switch (kind) {
    case FileKind::vhd:
    case FileKind::vhdx:
    case FileKind::vmdk:
    case FileKind::vmdk_descriptor:
    case FileKind::qcow:
    case FileKind::vdi:
    case FileKind::ewf_2:
    case FileKind::ewf_logical:
    case FileKind::aff:
    case FileKind::empty:
      return true;
    default:
      return core::is_packed(kind);
  }
}

std::string describe(const ntfs::Disk& disk) {
  if (disk.kind == ntfs::DiskKind::volume)
    return describe_other(disk.partitions.front().kind, wanted);
  std::string text = "no NTFS volume among its partitions:";
  for (const auto& partition : disk.partitions)
    text += fmt::format(" {} is {};", partition.number, to_string(partition.kind));
  return text;
}

}  // namespace

void add_disk_options(Command& command, DiskOptions& options) {
  command
      .add_input("image", options.image,
                 "A raw image, an E01 image or a block device: of a disk or of one volume")
      .required()
      .type_name("IMAGE");
  auto partition =
      command.add_option("--partition", options.partition,
                         "Only the partition with this number, as 'ntfs info' lists them");
  auto offset = command.add_option("--offset", options.offset,
                                   "Only the volume that starts at this byte of the image");
  auto mft = command.add_flag("--mft", options.mft_only,
                              "IMAGE is a $MFT that was copied out of its volume");
  partition.excludes(offset).excludes(mft);
  offset.excludes(mft);
}

std::optional<DiskInput> open_disk(const DiskOptions& options, Report& report,
                                   core::Findings& findings) {
  DiskInput input;
  auto image = open_image(options.image, input.container);
  if (!image) {
    report.failed(options.image, image.error());
    return std::nullopt;
  }
  input.image = std::move(*image);
  const auto kind = core::recognize_file(*input.image);
  const bool chosen = options.partition || options.offset;
  input.is_mft = options.mft_only || (kind == FileKind::ntfs_mft && !chosen);
  if (!chosen && !options.mft_only && is_other_container(kind)) {
    report.failed(options.image, describe_other(kind, wanted));
    return std::nullopt;
  }
  if (input.is_mft) {
    input.disk = {ntfs::DiskKind::volume, 512, {}};
    input.chosen.push_back({.size = input.image->size(), .kind = FileKind::unknown});
    return input;
  }
  auto disk = ntfs::read_disk(*input.image, findings);
  if (!disk) {
    if (kind == FileKind::unknown)
      report.failed(options.image, disk.error());
    else
      report.failed(options.image, describe_other(kind, wanted));
    return std::nullopt;
  }
  input.disk = std::move(*disk);
  if (options.offset) {
    const u64 size = input.image->size() - std::min(*options.offset, input.image->size());
    input.chosen.push_back({.offset = *options.offset,
                            .size = size,
                            .kind = ntfs::identify_at(*input.image, *options.offset)});
    return input;
  }
  for (const auto& partition : input.disk.partitions)
    if (options.partition ? partition.number == *options.partition : may_be_ntfs(partition))
      input.chosen.push_back(partition);
  // A volume whose boot sector is gone may have the copy.
  if (input.chosen.empty() && !options.partition && input.disk.kind == ntfs::DiskKind::volume &&
      is_damaged(input.disk.partitions.front().kind))
    input.chosen = input.disk.partitions;
  if (input.chosen.empty() && options.partition) {
    report.failed(options.image, fmt::format("there is no partition {}", *options.partition));
    return std::nullopt;
  }
  if (input.chosen.empty()) {
    report.failed(options.image, describe(input.disk));
    return std::nullopt;
  }
  return input;
}

core::Result<ntfs::Volume> open_volume(const DiskInput& input, const Partition& partition,
                                       core::Findings& findings) {
  if (input.is_mft) return ntfs::Volume::open_extracted_mft(*input.image, findings);
  return ntfs::Volume::open(*input.image, partition.offset, partition.size, findings);
}

std::string volume_failure(const DiskInput& input, const Partition& partition,
                           const core::ParseError& error) {
  if (input.is_mft) return fmt::format("not a $MFT: {}", error);
  const bool whole = partition.number == 0 && partition.offset == 0;
  const auto kind = whole ? core::recognize_file(*input.image)
                          : ntfs::identify_at(*input.image, partition.offset);
  if (whole && kind != FileKind::ntfs_volume && !is_damaged(kind))
    return describe_other(kind, wanted);
  const auto place = partition.number == 0 ? fmt::format("at {:#x}", partition.offset)
                                           : fmt::format("partition {}", partition.number);
  if (kind == FileKind::ntfs_volume) return fmt::format("{}: {}", place, error);
  if (is_damaged(kind))
    return fmt::format(
        "{} is {}, and no copy of a boot sector is at the end; --mft reads a $MFT "
        "that was copied out",
        place, to_string(kind));
  return fmt::format("{} is {}: {}", place, to_string(kind), error);
}

void write_disk(JsonWriter& json, const DiskInput& input) {
  json.key("disk").begin_object();
  json.field("container", input.container)
      .field("size", input.image->size())
      .field("table", to_string(input.disk.kind))
      .field("sector_size", input.disk.sector_size)
      .field("partitions",
             input.disk.kind == ntfs::DiskKind::volume ? 0 : input.disk.partitions.size());
  json.end_object();
}

void write_partition(JsonWriter& json, const Partition& partition) {
  json.begin_object();
  const bool numbered = partition.number != 0;
  json.key("number").value(numbered ? std::optional<u32>{partition.number} : std::nullopt);
  json.field("offset", partition.offset).field("size", partition.size);
  json.key("type").value(partition.type.empty() ? std::optional<std::string_view>{}
                                                : std::optional<std::string_view>{partition.type});
  json.key("name").value(partition.name.empty() ? std::optional<std::string_view>{}
                                                : std::optional<std::string_view>{partition.name});
  json.end_object();
}

void write_volume(JsonWriter& json, const ntfs::Volume& volume) {
  const auto& boot = volume.boot();
  const auto& information = volume.information();
  const auto& mft = volume.mft();
  const auto optional = [](bool known, auto value) {
    return known ? std::optional<decltype(value)>{value} : std::nullopt;
  };
  json.key("volume").begin_object();
  json.field("source", mft.extracted() ? "mft" : "volume");
  json.key("label").value(optional(information && !information->label.empty(),
                                   information ? std::string_view{information->label} : ""));
  json.key("version").value(information
                                ? std::optional{fmt::format("{}.{}", information->major_version,
                                                            information->minor_version)}
                                : std::nullopt);
  json.key("serial_number")
      .value(boot ? std::optional{fmt::format("{:016x}", boot->serial_number)} : std::nullopt);
  json.key("dirty").value(optional(information.has_value(), information && information->dirty()));
  json.key("bytes_per_sector").value(optional(boot.has_value(), boot ? boot->bytes_per_sector : 0));
  json.key("cluster_size").value(optional(boot.has_value(), boot ? boot->cluster_size : 0));
  json.key("clusters").value(optional(boot.has_value(), boot ? boot->clusters : 0));
  json.field("record_size", mft.record_size());
  json.key("index_size").value(optional(boot.has_value(), boot ? boot->index_size : 0));
  json.field("records", mft.record_count());
  json.key("mft_extents").begin_array();
  for (const auto& extent : mft.extents()) {
    if (mft.extracted()) break;
    json.begin_object().field("vcn", extent.vcn);
    json.key("lcn").value(
        optional(extent.lcn.has_value(), static_cast<u64>(extent.lcn.value_or(ntfs::Lcn{0}))));
    json.field("clusters", extent.clusters);
    json.key("offset").value(extent.lcn ? mft.clusters().offset_of(*extent.lcn) : std::nullopt);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace coldtrace::cli
