#include <algorithm>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/json_lines.hpp"
#include "cli/ntfs/compare/compare_rows.hpp"
#include "cli/ntfs/compare/compared_input.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/output/text.hpp"
#include "cli/privacy/names_option.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/ntfs/containers/image_parents.hpp"

namespace coldtrace::cli {
namespace {

struct NtfsCompareOptions : CommonOptions {
  std::string before;
  std::string after;
  std::vector<std::string> parents;
  ntfs::BitLockerKeyFiles bitlocker;
  std::optional<u32> partition;
  std::optional<u32> partition_before;
  std::optional<u32> partition_after;
  std::string shadow_before;
  std::string shadow_after;
  std::optional<u64> unpacked_limit;
  NamesOptions names;
  unsigned jobs = 1;

  bool has_lines() const { return format != "text"; }
};

using Volumes = std::vector<ComparedVolume>;

// What is read of one side.
struct Side {
  const ntfs::ImageParents& image;
  std::optional<u32> partition;
  const std::string& shadow;
};

struct Pair {
  const ComparedVolume* before;
  const ComparedVolume* after;
};

bool has_copies(const Volumes& volumes) {
  return std::ranges::any_of(volumes, [](const auto& volume) { return volume.name.shadow != 0; });
}

// "disk.img partition 2 shadow copy 1"; "disk.img live" where there are copies of volumes too.
std::string view_title(const VolumeName& name, bool copies) {
  auto title = volume_title(name.image, name.partition, name.shadow);
  if (copies && name.shadow == 0) title += " live";
  return title;
}

std::vector<ntfs::ComparedView> views_of(const Volumes& volumes) {
  std::vector<ntfs::ComparedView> views;
  for (const auto& volume : volumes) views.push_back(volume.view());
  return views;
}

std::vector<Pair> pair_volumes(const Volumes& before, const Volumes& after,
                               core::Findings& findings) {
  const bool copies = has_copies(before) || has_copies(after);
  const auto tell_alone = [&](const ComparedVolume& volume, const Volumes& others) {
    const auto& name = volume.name;
    findings.warning("volume-unmatched", name.start,
                     "{}, which starts at {:#x}, has no counterpart in {}: it is not compared "
                     "(--before-partition and --after-partition choose one of each)",
                     view_title(name, copies), name.start, others.front().name.image);
  };
  const auto found = ntfs::pair_volumes(views_of(before), views_of(after));
  for (const auto alone : found.before_alone) tell_alone(before[alone], after);
  for (const auto alone : found.after_alone) tell_alone(after[alone], before);
  std::vector<Pair> pairs;
  for (const auto& pair : found.pairs) pairs.push_back({&before[pair.before], &after[pair.after]});
  return pairs;
}

// Writes what differs in one format.
class CompareWriter {
 public:
  // `copies`: whether text says which views of volumes are compared.
  CompareWriter(const NtfsCompareOptions& options, Output& output, bool copies)
      : options_{options},
        output_{output},
        lines_{output, options.format, options.int64},
        copies_{copies} {}

  void begin(const Pair& pair) {
    if (!options_.has_lines()) {
      if (copies_)
        print(output_, "{} -> {}\n", printable(view_title(pair.before->name, true)),
              printable(view_title(pair.after->name, true)));
      return;
    }
    auto& json = lines_.begin_header("coldtrace.ntfs-compare/1");
    write_side(json, "before", *pair.before);
    write_side(json, "after", *pair.after);
    lines_.end();
  }

  void write(const Pair& pair, const ntfs::FileDifference& difference) {
    if (!options_.has_lines())
      return output_.write(difference_text(pair.before->name, pair.after->name, difference));
    write_difference_json(lines_.begin("file"), pair.after->name, difference);
    lines_.end();
  }

  void finish(const ntfs::ComparisonCounts& counts, const core::Findings& findings) {
    if (!options_.has_lines()) {
      print(output_, "{} before, {} after, {} of them unchanged\n",
            counted(counts.before, "file", "files"), grouped(counts.after),
            grouped(counts.unchanged));
      if (counts.unknown > 0)
        print(output_,
              "{} of one side not compared: the metadata that would show whether the other side "
              "has all of {} cannot be read\n",
              counted(counts.unknown, "file", "files"), counts.unknown == 1 ? "it" : "them");
      return;
    }
    auto& json = lines_.begin_summary();
    json.field("same", counts.same()).key("counts").begin_object();
    json.field("files_before", counts.before)
        .field("files", counts.after)
        .field("unchanged", counts.unchanged)
        .field("unknown", counts.unknown)
        .key("changes")
        .begin_object();
    for (std::size_t i = 0; i < ntfs::file_change_count; ++i)
      json.field(to_string(static_cast<ntfs::FileChange>(i)), counts.changes[i]);
    json.end_object().end_object().key("findings");
    write_findings(json, findings);
    lines_.end_summary();
  }

 private:
  static void write_side(JsonWriter& json, std::string_view name, const ComparedVolume& volume) {
    json.key(name).begin_object();
    write_volume_name(json, volume.name);
    json.key("serial_number")
        .value(volume.serial_number.empty() ? std::nullopt : std::optional{volume.serial_number});
    json.field("names", volume.files.names()).end_object();
  }

  const NtfsCompareOptions& options_;
  Output& output_;
  JsonLines lines_;
  bool copies_;
};

bool may_have_parent(const std::string& path) {
  const auto file = core::FileImage::open(path);
  return file &&
         core::is_virtual_disk(core::recognize_file(**file).value_or(core::FileKind::unknown));
}

std::optional<Volumes> read_side(const NtfsCompareOptions& options, const Side& side,
                                 const privacy::HashedNames* names, core::Findings& all,
                                 Report& report) {
  DiskOptions disk;
  disk.image = side.image.image;
  disk.parents = side.image.parents;
  disk.parents_may_be_of_another = true;
  disk.bitlocker = options.bitlocker;
  disk.partition = side.partition;
  disk.unpacked_limit = options.unpacked_limit;
  if (!side.shadow.empty()) disk.shadows.push_back(side.shadow);
  core::Findings findings;
  auto volumes = read_compared(disk, names, options.jobs, findings, report);
  if (!volumes) return std::nullopt;
  report.read(side.image.image, findings);
  all.merge(findings);
  return volumes;
}

Exit run_ntfs_compare(const NtfsCompareOptions& options) {
  const auto names = options.names.read_key();
  if (!options.parents.empty() && !may_have_parent(options.before) &&
      !may_have_parent(options.after))
    throw Failure{fmt::format(
        "--parent is for VHD, VHDX, QCOW2 and VMDK images, and neither {} nor {} is one",
        printable(options.before), printable(options.after))};
  Output output{options.output};
  output.outlive_reader();
  Report report{options.findings};
  core::Findings findings;
  const auto either = [&](std::optional<u32> own) { return own ? own : options.partition; };
  const auto image_before = ntfs::choose_parents(options.before, options.parents);
  const auto image_after = ntfs::choose_parents(options.after, options.parents);
  const auto before =
      read_side(options, {image_before, either(options.partition_before), options.shadow_before},
                names.get(), findings, report);
  if (!before) return Exit::failure;
  const auto after =
      read_side(options, {image_after, either(options.partition_after), options.shadow_after},
                names.get(), findings, report);
  if (!after) return Exit::failure;
  core::Findings of_both;
  ntfs::note_unused_parents(options.parents, image_before, image_after, of_both);
  CompareWriter writer{options, output, has_copies(*before) || has_copies(*after)};
  ntfs::ComparisonCounts counts;
  const auto pairs = pair_volumes(*before, *after, of_both);
  if (pairs.empty()) {
    report.tell(options.after, of_both);
    throw Failure{
        fmt::format("{} and {} have no volume in the same place and of the same time; choose one "
                    "of each with --before-partition and --after-partition",
                    printable(options.before), printable(options.after))};
  }
  for (const auto& pair : pairs) {
    note_pair(pair.before->view(), pair.after->view(), of_both);
    writer.begin(pair);
    const auto compared = compare_files(
        pair.before->files, pair.after->files,
        [&](const ntfs::FileDifference& difference) { writer.write(pair, difference); });
    if (!compared) throw Failure{to_message(compared.error())};
    counts.add(*compared);
  }
  report.read(options.after, of_both);
  findings.merge(of_both);
  writer.finish(counts, findings);
  output.commit();
  if (!counts.same()) report.mismatch();
  return report.exit();
}

}  // namespace

void add_ntfs_compare(CLI::App& app, Exit& exit) {
  add_command<NtfsCompareOptions>(
      app, exit,
      {"compare",
       "Show what changed between two images of a volume: created, deleted, renamed, moved, "
       "resized, touched, relocated, other metadata",
       "  coldtrace ntfs compare monday.E01 tuesday.E01\n"
       "  coldtrace ntfs compare monday.ndjson tuesday.E01 --format ndjson\n"
       "  coldtrace ntfs compare monday.ndjson.zst tuesday.ndjson.gz\n"
       "  coldtrace ntfs compare --before-shadow 2 disk.E01 disk.E01\n"
       "  coldtrace ntfs compare --before-partition 2 --after-partition 3 old.E01 new.E01\n",
       "  0  names, sizes, clusters, times, owners and other metadata of all files are the same;\n"
       "     contents are not compared; for a snapshot with hashed names, neither are owners and\n"
       "     whatever else such a snapshot strips\n"
       "  1  they differ, or damage was found\n"
       "  2  one of them cannot be read\n"},
      {"text", "ndjson", "json"},
      [](Command& command, NtfsCompareOptions& options) {
        command
            .add_input(
                "BEFORE", options.before,
                "An image, or the NDJSON of 'ntfs snapshot', also compressed; - is standard input")
            .required()
            .type_name("FILE");
        command.add_input("AFTER", options.after, "The same, at a later time")
            .required()
            .type_name("FILE");
        command
            .add_input("--parent", options.parents,
                       "Base image of a differencing image, if it is not in the same folder; "
                       "repeat for its own base")
            .repeatable()
            .type_name("FILE");
        add_bitlocker_options(command, options.bitlocker);
        const auto partition =
            command.add_option("--partition", options.partition,
                               "Only the partition with this number, as 'ntfs info' lists them");
        command
            .add_option("--before-partition", options.partition_before,
                        "Only this partition of BEFORE, if its number differs in AFTER")
            .excludes(partition);
        command
            .add_option("--after-partition", options.partition_after,
                        "Only this partition of AFTER")
            .excludes(partition);
        add_one_shadow_option(command, "--before-shadow", options.shadow_before,
                              "Read BEFORE as of this shadow copy");
        add_one_shadow_option(command, "--after-shadow", options.shadow_after,
                              "Read AFTER as of this shadow copy");
        add_text_size_option(command, options.text);
        add_text_time_options(command, options.text);
        add_unpacked_limit_option(command, options.unpacked_limit);
        add_names_options(command, options.names);
        leave_image_readers(command);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_compare);
}

}  // namespace coldtrace::cli
