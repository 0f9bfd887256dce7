#include "cli/ntfs/ntfs_input.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/images/other_kind.hpp"
#include "cli/ntfs/input_parts.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/output/text.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "coldtrace/core/folder_files.hpp"
#include "coldtrace/core/split_parts.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/disk/image_file.hpp"
#include "coldtrace/ntfs/disk/spooled_image.hpp"
#include "coldtrace/ntfs/opening/unopened_volume.hpp"
#include "coldtrace/ntfs/structures/boot_sector.hpp"
#include "coldtrace/ntfs/volume_search.hpp"

namespace coldtrace::cli {
namespace {

using core::FileKind;
using ntfs::Partition;

constexpr std::string_view wanted = "a disk or volume with NTFS";
constexpr ntfs::BitLockerKeyNames key_options{"--password-file", "--recovery-key-file",
                                              "--startup-key"};

// A segment of an E01 image whose first one is not there says so in its header.
std::string describe_error(const core::ParseError& error) {
  if (error.structure == "EWF" && error.field == "SegmentNumber")
    return fmt::format("it is segment {} of an E01 image, and the first segment is not beside it",
                       error.found);
  if (error.fault == core::Fault::io && error.found == EISDIR)
    return "it is a folder; 'coldtrace batch', or --out-dir where the command has it, reads each "
           "file in it";
  if (error.structure == "split image" && error.field == "part")
    return "it is a part of a split image, but not the first one";
  const bool ewf = error.field == "libewf";
  if (error.field.view().starts_with("lib") && error.structure.view().ends_with(" image"))
    return error.fault == core::Fault::unsupported
               ? fmt::format(
                     "it is {} {}, and {}, which reads it, is not installed; '{}' converts it to a "
                     "raw image",
                     ewf ? "an" : "a", error.structure.view(), error.field.view(),
                     ewf ? "ewfexport -f raw" : "qemu-img convert -O raw")
               : fmt::format("it is a {}, which {} cannot open", error.structure.view(),
                             error.field.view());
  return to_message(error);
}

// What was looked for a $MFT: of a partition one that leads to its start alone.
std::string describe_search(const Partition& partition, u64 image_size) {
  const u64 there = image_size - std::min(partition.offset, image_size);
  const auto whose = partition.offset == 0 ? "" : " of a volume that starts here";
  if (std::min(partition.size, there) > ntfs::longest_volume_search)
    return fmt::format("no $MFT{} was found in its first {} GiB, where the search ends", whose,
                       ntfs::longest_volume_search >> 30);
  if (partition.size > there)
    return fmt::format(
        "no $MFT{} was found in its first {} bytes, which are all that the image has", whose,
        there);
  return fmt::format("no $MFT{} was found in its {} bytes", whose, partition.size);
}

// What is left of a volume that an image ends in.
std::string describe_rest(const Partition& partition, u64 image_size) {
  const u64 there = image_size - std::min(partition.offset, image_size);
  if (there == ntfs::BootSector::size_on_disk) return "only its boot sector is here";
  return fmt::format("only its first {} are here", core::counted(there, "byte", "bytes"));
}

// What a file is whose first bytes are not a disk's.
std::string describe_no_disk(FileKind kind) {
  auto text = describe_other(kind, wanted);
  if (kind == FileKind::coldtrace_json)
    text += "; 'ntfs query', 'info', 'locate', 'history' and 'compare' take a snapshot";
  return text;
}

// A volume may have been formatted over one of NTFS.
std::string describe(const ntfs::Disk& disk, const core::ImageSource& image) {
  if (disk.kind == ntfs::DiskKind::volume)
    return describe_no_disk(disk.partitions.front().kind) +
           (ntfs::ends_with_ntfs_boot_sector(image) ? "; the copy of an NTFS boot sector is at its "
                                                      "end: --offset 0 reads the volume by it"
                                                    : "");
  if (disk.partitions.empty())
    return fmt::format("its {} lists no partition",
                       disk.kind == ntfs::DiskKind::gpt ? "GUID partition table" : "MBR");
  std::vector<std::string> kinds;
  for (const auto& partition : disk.partitions)
    kinds.push_back(fmt::format("{} is {}", partition.number, to_string(partition.kind)));
  return fmt::format("no NTFS volume among its partitions: {}", fmt::join(kinds, "; "));
}

// Returns the four that say where a volume is, and after them the others.
std::vector<Option> add_options_of_image(Command& command, DiskOptions& options) {
  auto parent = command.add_input("--parent", options.parents,
                                  "Base image of a differencing image, if it is not in the same "
                                  "folder; repeat for its own base");
  parent.repeatable().type_name("FILE");
  auto partition =
      command.add_option("--partition", options.partition,
                         "Only the partition with this number, as 'ntfs info' lists them");
  auto offset = command.add_option("--offset", options.offset,
                                   "Only the volume that starts at this byte of the image");
  offset.type_name("BYTES");
  auto mft_offset =
      command.add_option("--mft-offset", options.mft_offset,
                         "Offset of record 0 of $MFT in the image; boot sectors are not read");
  mft_offset.type_name("BYTES");
  auto cluster_size = command.add_option("--cluster-size", options.cluster_size,
                                         "Cluster size of a volume whose boot sectors are lost");
  cluster_size.check("BYTES", [](const std::string& text) {
    for (u64 size = 512; size <= ntfs::largest_cluster; size *= 2)
      if (text == std::to_string(size)) return std::string{};
    return fmt::format("{} is not a power of two from 512 to {}", text, ntfs::largest_cluster);
  });
  partition.excludes(offset);
  add_unpacked_limit_option(command, options.unpacked_limit);
  std::vector<Option> added{partition, offset, mft_offset, cluster_size, parent};
  for (const auto& option : add_bitlocker_options(command, options.bitlocker))
    added.push_back(option);
  return added;
}

// Returns those that say where a volume is.
std::vector<Option> add_options_of_volumes(Command& command, DiskOptions& options) {
  std::string help{
      "A raw, E01, VHD, VHDX, QCOW2 or VMDK image, the first part of a split raw one, a compressed "
      "raw one or a block device: of a disk or of one volume; - is standard input"};
  if (options.takes_snapshots) help += "; or a snapshot (.ndjson, .ndjson.zst)";
  command.add_input("IMAGE", options.image, help).required().type_name("IMAGE");
  auto added = add_options_of_image(command, options);
  leave_image_readers(command);
  added.erase(added.begin() + 4, added.end());
  return added;
}

// Any segment of an EnCase image stands for all of them.
void add_segments(const std::string& image, std::vector<std::string>& inputs) {
  const auto folder = std::filesystem::path{image}.parent_path();
  const auto entries = core::list_folder(folder.empty() ? "." : folder);
  if (!entries) return;
  for (const auto& entry : *entries)
    if (core::is_named_as_segment_beside(image, entry.path().string()))
      inputs.push_back(entry.path().string());
}

// Parents that the command line does not name lie beside the image.
void add_parts(SandboxNeeds& needs) {
  const auto named = needs.inputs;
  for (const auto& input : named) {
    for (auto& part : list_input_parts(input, {})) needs.inputs.push_back(std::move(part));
    add_segments(input, needs.inputs);
  }
}

void leave_images(SandboxNeeds& needs) {
  needs.processes = true;
  needs.find_more_inputs.emplace_back(&add_parts);
}

}  // namespace

void leave_image_readers(Command& command) {
  command.before_sandbox(&leave_images);
}

void add_volume_options(Command& command, DiskOptions& options) {
  add_options_of_volumes(command, options);
}

void add_image_option(Command& command, DiskOptions& options, const char* help) {
  auto image = command.add_input("--image", options.image, help);
  image.type_name("IMAGE");
  for (auto& option : add_options_of_image(command, options)) option.needs(image);
  add_shadow_option(command, options.shadows).needs(image);
  command.before_sandbox([&options](SandboxNeeds& needs) {
    if (!options.image.empty()) leave_images(needs);
  });
}

void add_disk_options(Command& command, DiskOptions& options) {
  const auto of_volumes = add_options_of_volumes(command, options);
  auto mft = command.add_flag("--mft", options.mft_only,
                              "IMAGE is a $MFT that was copied out of its volume");
  for (const auto& option : of_volumes) mft.excludes(option);
}

void refuse_options_of_images(const DiskOptions& options) {
  if (options.offset || options.mft_only || options.mft_offset || options.cluster_size ||
      !options.parents.empty() || !options.bitlocker.empty() || !options.shadows.empty())
    throw Failure{
        "--offset, --mft, --mft-offset, --cluster-size, --parent, --shadow and BitLocker keys are "
        "for images, and this is a snapshot"};
}

ntfs::VolumeChoice DiskOptions::choice() const {
  ntfs::VolumeChoice choice{
      .partition = partition, .offset = offset, .mft_offset = mft_offset, .mft_only = mft_only};
  if (cluster_size) choice.cluster_size = static_cast<u32>(*cluster_size);
  return choice;
}

std::optional<GivenFile> open_given(const DiskOptions& options, core::Findings& findings,
                                    Report& report) {
  return open_given(options.image, options.unpacked_limit,
                    options.locates_volume() || options.mft_only, findings, report);
}

std::optional<GivenFile> take_piped(std::unique_ptr<core::ImageSource> bytes,
                                    const DiskOptions& options, core::Findings& findings,
                                    Report& report) {
  return take_piped(std::move(bytes), options.image, options.unpacked_limit,
                    options.locates_volume() || options.mft_only, findings, report);
}

namespace {

// Throws where --parent is for another kind of image.
void refuse_unused_parents(const DiskOptions& options, std::string_view kind) {
  if (!options.parents.empty() && !options.parents_may_be_of_another &&
      (kind == "raw" || kind == "split" || kind == "ewf"))
    throw Failure{
        fmt::format("{}: --parent is for VHD, VHDX, QCOW2 and VMDK images, and this is {}",
                    printable(options.image), kind == "ewf" ? "an E01 image" : "a raw image")};
}

}  // namespace

std::optional<ntfs::ImageFile> open_given_image(const DiskOptions& options, GivenFile given,
                                                core::Findings& findings, Report& report) {
  if (given.is_own) {
    auto file = ntfs::open_image(options.image, findings, options.parents);
    if (file) {
      refuse_unused_parents(options, file->container);
      return std::move(*file);
    }
    report.tell(options.image, findings);
    report.failed(options.image, describe_error(file.error()));
    return std::nullopt;
  }
  auto file =
      ntfs::open_spooled_image(std::move(given.bytes), given.packing, findings, options.parents);
  if (file) {
    const auto& container = file->container;
    refuse_unused_parents(options, container == given.packing ? "raw" : container);
    return std::move(*file);
  }
  const auto& [text, error] = file.error();
  if (error) report.tell(options.image, findings);
  report.failed(options.image, error ? fmt::format("{}: {}", ntfs::spooled_origin(given.packing),
                                                   describe_error(*error))
                                     : text);
  return std::nullopt;
}

std::optional<DiskInput> open_disk(const DiskOptions& options, Report& report,
                                   core::Findings& findings) {
  auto given = open_given(options, findings, report);
  if (!given) return std::nullopt;
  auto file = open_given_image(options, std::move(*given), findings, report);
  if (!file) return std::nullopt;
  return find_volumes(options, std::move(*file), findings, report);
}

namespace {

// What the choice of volumes has none of.
std::string describe(ntfs::NoVolume none, const DiskOptions& options,
                     const ntfs::ImageVolumes& image) {
  switch (none) {
    case ntfs::NoVolume::beyond_end:
      return fmt::format("--offset {:#x} is beyond its end, at {:#x}", *options.offset,
                         image.file.source->size());
    case ntfs::NoVolume::no_partition:
      return fmt::format("there is no partition {}", *options.partition);
    case ntfs::NoVolume::no_ntfs:
      return describe(image.disk, *image.file.source);
  }
  return {};
}

std::optional<DiskInput> find_chosen(const DiskOptions& options, ntfs::ImageFile file,
                                     core::Findings& findings, Report& report) {
  const auto choice = options.choice();
  const auto content = ntfs::content_of(file, choice);
  if (content == ntfs::ImageContent::unopened) {
    report.failed(options.image, describe_other(file.kind, wanted));
    return std::nullopt;
  }
  std::vector<ntfs::BitLockerKey> keys;
  if (content == ntfs::ImageContent::disk) keys = given_bitlocker_keys(options.bitlocker);
  DiskInput input{ntfs::read_volumes(std::move(file), choice, keys, findings), {}, {}};
  auto chosen = ntfs::choose_volumes(input, choice);
  if (!chosen) {
    if (chosen.error() == ntfs::NoVolume::no_ntfs) report.tell(options.image, findings);
    report.failed(options.image, describe(chosen.error(), options, input));
    return std::nullopt;
  }
  core::Findings of_locked;
  std::vector<std::string> locked;
  for (const auto& partition : chosen->locked) {
    locked.push_back(ntfs::describe_locked(partition, input.bitlocker.at(partition.offset),
                                           !keys.empty(), key_options));
    of_locked.warning("bitlocker-locked", partition.offset, "{}", locked.back());
  }
  const bool listed = options.lists_locked && keys.empty() && !choice.locates();
  if (chosen->volumes.empty() && !listed) {
    report.tell(options.image, findings);
    report.failed(options.image, fmt::format("{}", fmt::join(locked, "; ")));
    return std::nullopt;
  }
  input.chosen = std::move(chosen->volumes);
  findings.merge(of_locked);
  ntfs::tell_unused_keys(keys.size(), input.bitlocker, findings);
  return input;
}

}  // namespace

std::optional<DiskInput> find_volumes(const DiskOptions& options, ntfs::ImageFile file,
                                      core::Findings& findings, Report& report) {
  auto input = find_chosen(options, std::move(file), findings, report);
  if (!input || options.shadows.empty()) return input;
  const auto place_of = [&](const Partition& partition) {
    return ntfs::find_place(*input, partition, options.choice());
  };
  const auto refusal = input->is_mft
                           ? std::string{"it is a $MFT, which has no shadow copies"}
                           : choose_shadows(options.shadows, *input->file.source, place_of,
                                            input->chosen, input->shadows, findings);
  if (refusal.empty()) return input;
  report.tell(options.image, findings);
  report.failed(options.image, refusal);
  return std::nullopt;
}

std::string volume_failure(const DiskInput& input, const Partition& partition,
                           const core::ParseError& error) {
  using Reason = ntfs::UnopenedReason;
  const auto& [reason, kind, why] = ntfs::explain_unopened(input, partition, error);
  const auto place = partition.number == 0 ? fmt::format("at {:#x}", partition.offset)
                                           : fmt::format("partition {}", partition.number);
  switch (reason) {
    case Reason::no_mft:
      return kind == FileKind::unknown ? "not a $MFT: there is no FILE record at its start"
                                       : describe_other(kind, "a $MFT");
    case Reason::damaged_mft:
      return fmt::format("not a $MFT: {}", why);
    case Reason::no_record_0:
      return fmt::format("no usable record 0 of $MFT is at {:#x}, where --mft-offset says it is",
                         why.offset);
    case Reason::beyond_end:
      return fmt::format(
          "{} starts at {:#x}, beyond the end of the image, and none of it was read; use "
          "--offset to say where a volume starts",
          place, partition.offset);
    case Reason::unreadable:
      return fmt::format(
          "{} cannot be read, as if the image had been cut off: {}; its readable part has no NTFS "
          "boot sector and no $MFT",
          place, why);
    case Reason::no_volume:
      return describe_no_disk(kind);
    case Reason::damaged:
      return fmt::format("{}: {}", place, why);
    case Reason::cut_off:
      return fmt::format(
          "{} is an NTFS volume that was cut off: {}, and not {:#x}, where its $MFT is; no other "
          "one was found",
          place, describe_rest(partition, input.file.source->size()), why.offset);
    case Reason::erased_log:
      return "it is FF throughout, as Linux drivers leave a $LogFile; 'coldtrace ntfs logfile' "
             "reads one";
    case Reason::lost:
      return fmt::format(
          "{} is {}; there is no NTFS boot sector and no backup of one, and {}; "
          "use --mft-offset to give its location, or --mft for a $MFT that was copied out",
          place, to_string(kind), describe_search(partition, input.file.source->size()));
    case Reason::other_volume:
      return fmt::format("{} is {}: {}", place, to_string(kind), why);
  }
  return {};
}

void UnopenedVolumes::add(const Partition& partition, std::string why) {
  volumes_.push_back({partition.offset, std::move(why)});
}

void UnopenedVolumes::add(const UnopenedVolumes& again) {
  for (const auto& volume : again.volumes_)
    if (std::ranges::find(volumes_, volume) == volumes_.end()) volumes_.push_back(volume);
}

core::Findings UnopenedVolumes::report(std::string_view image, bool others_opened,
                                       Report& report) const {
  core::Findings findings;
  for (const auto& volume : volumes_) {
    if (!others_opened) {
      report.failed(image, volume.why);
      continue;
    }
    core::Findings finding;
    finding.warning("volume-unopened", volume.offset, "{}", volume.why);
    report.tell(image, finding);
    findings.merge(finding);
  }
  return findings;
}

void write_disk(JsonWriter& json, const DiskInput& input) {
  json.key("disk").begin_object();
  json.field("container", input.file.container)
      .field("size", input.file.source->size())
      .field("table", to_string(input.disk.kind))
      .field("sector_size", input.disk.sector_size)
      .field("partitions",
             input.disk.kind == ntfs::DiskKind::volume ? 0 : input.disk.partitions.size());
  json.end_object();
}

void write_partition(JsonWriter& json, const Partition& partition, bool named) {
  json.begin_object();
  const bool numbered = partition.number != 0;
  json.key("number").value(numbered ? std::optional<u32>{partition.number} : std::nullopt);
  json.field("offset", partition.offset).field("size", partition.size);
  json.key("type").value(partition.type.empty() ? std::optional<std::string_view>{}
                                                : std::optional<std::string_view>{partition.type});
  json.key("name").value(!named || partition.name.empty()
                             ? std::optional<std::string_view>{}
                             : std::optional<std::string_view>{partition.name});
  if (partition.shadow) {
    json.key("shadow").begin_object().field("number", partition.shadow->number);
    json.field("created", core::to_string(partition.shadow->created)).end_object();
  } else {
    json.field("shadow", nullptr);
  }
  json.end_object();
}

void write_volume(JsonWriter& json, const ntfs::Volume& volume, bool named) {
  const auto& boot = volume.boot();
  const auto& information = volume.information();
  const auto& mft = volume.mft();
  const auto optional = [](bool known, auto value) {
    return known ? std::optional<decltype(value)>{value} : std::nullopt;
  };
  json.key("volume").begin_object();
  json.field("source", mft.extracted() ? "mft" : "volume");
  json.key("label").value(optional(named && information && !information->label.empty(),
                                   information ? std::string_view{information->label} : ""));
  json.key("version").value(information
                                ? std::optional{fmt::format("{}.{}", information->major_version,
                                                            information->minor_version)}
                                : std::nullopt);
  const bool stated = boot && !boot->inferred;
  json.key("serial_number")
      .value(stated ? std::optional{fmt::format("{:016x}", boot->serial_number)} : std::nullopt);
  json.key("dirty").value(optional(information.has_value(), information && information->dirty()));
  json.key("bytes_per_sector").value(optional(stated, boot ? boot->bytes_per_sector : 0));
  json.key("cluster_size").value(optional(boot.has_value(), boot ? boot->cluster_size : 0));
  json.key("clusters").value(optional(boot.has_value(), boot ? boot->clusters : 0));
  json.field("record_size", mft.record_size());
  json.key("index_size").value(optional(stated, boot ? boot->index_size : 0));
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
