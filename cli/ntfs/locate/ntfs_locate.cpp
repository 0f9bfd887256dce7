#include <algorithm>
#include <map>
#include <memory>

#include <CLI/Error.hpp>

#include "cli/command/common_options.hpp"
#include "cli/command/json_lines.hpp"
#include "cli/ntfs/locate/asked_places.hpp"
#include "cli/ntfs/locate/located_lines.hpp"
#include "cli/ntfs/locate/locator.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/output/text.hpp"
#include "cli/privacy/names_option.hpp"
#include "coldtrace/ntfs/locate/place_finder.hpp"
#include "coldtrace/ntfs_privacy/hashed_place.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t most_at_once = 65'536;  // places of which the answers are in memory

struct NtfsLocateOptions : DiskOptions {
  NtfsLocateOptions() { takes_snapshots = true; }

  PlaceOptions places;
  NamesOptions names;
  unsigned jobs = 1;

  bool has_lines() const { return format != "text"; }
};

// A volume of an image, with what is known of its records.
struct OpenVolume {
  ntfs::Partition partition;
  ntfs::Volume volume;
  ntfs::RecordTable records;
  VolumeName name;
  core::Findings findings;
};

// Those that are as they were at one time: of one shadow copy each, or as they are now.
using View = std::vector<OpenVolume>;

// The volumes of the input that can be opened, by shadow copy.
std::vector<View> open_volumes(const DiskInput& input, const NtfsLocateOptions& options,
                               KeptImages& images, UnopenedVolumes& unopened) {
  std::map<u32, View> views;  // the volume as it is now comes last, as it was asked for
  unopened = visit_volumes(
      input, options,
      [&](const ntfs::Partition& partition, ntfs::Volume volume, core::Findings findings) {
        std::vector<ntfs::Gap> gaps;
        auto records =
            ntfs::RecordTable::scan(volume.image(), volume.mft(), options.jobs, findings, gaps);
        const VolumeName name{options.image, partition, volume};
        views[name.shadow - 1].push_back(
            {partition, std::move(volume), std::move(records), name, std::move(findings)});
      },
      &images);
  std::vector<View> volumes;
  for (auto& [number, view] : views) volumes.push_back(std::move(view));
  return volumes;
}

// Null `names`: they are as they are.
std::vector<LocatedVolume> located_volumes(View& view, const privacy::HashedNames* names) {
  std::vector<LocatedVolume> volumes;
  for (auto& open : view)
    volumes.push_back({{open.volume.mft().clusters(), open.partition.offset, open.partition.size},
                       open.name,
                       [&open, names](std::span<const u64> offsets) {
                         auto places =
                             find_places(open.volume, open.records, offsets, open.findings);
                         if (names != nullptr)
                           for (auto& place : places) hash_names(place, *names);
                         return places;
                       }});
  return volumes;
}

// Writes the answers in one format.
class LocateWriter {
 public:
  LocateWriter(const NtfsLocateOptions& options, Output& output)
      : options_{options}, output_{output}, lines_{output, options.format, options.int64} {}

  void begin(const DiskInput& input, const std::vector<View>& views,
             const privacy::HashedNames* names) {
    if (!options_.has_lines()) return;
    auto& json = lines_.begin_header("coldtrace.ntfs-locate/1");
    write_names_member(json, names);
    write_disk(json, input);
    json.key("volumes").begin_array();
    for (const auto& view : views)
      for (const auto& volume : view) {
        json.begin_object().key("partition");
        write_partition(json, volume.partition, names == nullptr);
        write_volume(json, volume.volume, names == nullptr);
        json.end_object();
      }
    json.end_array();
    lines_.end();
  }

  void begin(const std::vector<SnapshotHeader>& headers) {
    if (!options_.has_lines()) return;
    auto& json = lines_.begin_header("coldtrace.ntfs-locate/1");
    if (headers.front().names != "null") write_read_member(json, "names", headers.front().names);
    write_read_member(json, "disk", headers.front().disk);
    json.key("volumes").begin_array();
    for (const auto& header : headers) {
      json.begin_object();
      write_read_member(json, "partition", header.partition_json);
      write_read_member(json, "volume", header.volume);
      json.end_object();
    }
    json.end_array();
    lines_.end();
  }

  void write(const LocatedPlace& located) {
    if (!options_.has_lines()) return output_.write(located_text(located));
    write_located_json(lines_.begin("place"), located);
    lines_.end();
  }

  void finish(const std::vector<Locator>& locators, u64 places, const core::Findings& findings) {
    if (!options_.has_lines()) return;
    std::map<std::string_view, u64> counts;
    for (const auto& locator : locators)
      for (const auto& [name, count] : locator.counts()) counts[name] += count;
    auto& json = lines_.begin_summary();
    json.key("counts").begin_object().field("places", places).key("holds").begin_object();
    for (const auto& [name, count] : counts) json.field(name, count);
    json.end_object().end_object().key("findings");
    write_findings(json, findings);
    lines_.end_summary();
  }

 private:
  const NtfsLocateOptions& options_;
  Output& output_;
  JsonLines lines_;
};

void refuse_clusters_of_several(const std::vector<AskedPlace>& asked, std::size_t volumes,
                                bool of_snapshot) {
  const auto cluster = std::ranges::find(asked, PlaceUnit::cluster, &AskedPlace::unit);
  if (volumes > 1 && cluster != asked.end())
    throw Failure{fmt::format(
        "'{}' is a cluster of which volume? The {} has {}; choose it with --partition{}",
        printable(cluster->text), of_snapshot ? "snapshot" : "image", volumes,
        of_snapshot ? "" : " or --offset")};
}

// Answers what is asked for. Returns of how many places.
u64 locate_all(AskedPlaces& asked, std::vector<Locator>& locators, bool of_snapshot,
               LocateWriter& writer) {
  u64 count = 0;
  for (auto batch = asked.next(most_at_once); !batch.empty(); batch = asked.next(most_at_once)) {
    for (const auto& locator : locators)
      refuse_clusters_of_several(batch, locator.volumes(), of_snapshot);
    for (auto& locator : locators)
      locator.locate(batch, [&](const LocatedPlace& located) { writer.write(located); });
    count += batch.size();
  }
  return count;
}

Exit locate_in_image(const NtfsLocateOptions& options, GivenFile given, core::Findings of_disk,
                     const privacy::HashedNames* names, AskedPlaces& asked, Output& output,
                     Report& report) {
  auto file = open_given_image(options, std::move(given), of_disk, report);
  if (!file) return report.exit();
  const auto input = find_volumes(options, std::move(*file), of_disk, report);
  if (!input) return report.exit();
  if (input->is_mft) {
    report.failed(options.image, "it is a $MFT, which does not say where on a disk anything is");
    return report.exit();
  }
  UnopenedVolumes unopened;
  KeptImages images;
  auto views = open_volumes(*input, options, images, unopened);
  core::Findings findings = unopened.report(options.image, !views.empty(), report);
  if (views.empty()) {
    report.tell(options.image, of_disk);
    return report.exit();
  }
  LocateWriter writer{options, output};
  writer.begin(*input, views, names);
  const LocatedDisk disk{input->file.source->size(), input->disk.sector_size,
                         input->disk.partitions};
  std::vector<Locator> locators;
  for (auto& view : views)
    locators.emplace_back(disk, located_volumes(view, names), locators.empty());
  const u64 count = locate_all(asked, locators, false, writer);
  for (const auto& view : views)
    for (const auto& volume : view) {
      report.read(volume_title(options.image, volume.partition), volume.findings);
      findings.merge(volume.findings);
    }
  input->file.add_findings(of_disk);
  for (const auto& locator : locators) locator.unmatched().report(of_disk);
  if (!of_disk.empty()) report.read(options.image, of_disk);
  findings.merge(of_disk);
  writer.finish(locators, count, findings);
  output.commit();
  return report.exit();
}

Exit locate_in_snapshot(const NtfsLocateOptions& options, const GivenFile& given,
                        core::Findings findings, AskedPlaces& asked, Output& output,
                        Report& report) {
  if (options.names.hashed())
    throw Failure{"--names keyed-hash is for images, and this is a snapshot"};
  refuse_options_of_images(options);
  LocatedLines lines{*given.bytes};
  if (const auto refusal = lines.open(options.partition, options.int64, findings);
      !refusal.empty()) {
    report.failed(options.image, refusal);
    return report.exit();
  }
  LocateWriter writer{options, output};
  writer.begin(lines.headers());
  const auto disk = lines.disk();
  std::vector<Locator> locators;
  for (auto& view : lines.views(options.image))
    locators.emplace_back(disk, std::move(view), locators.empty());
  const u64 count = locate_all(asked, locators, true, writer);
  for (const auto& locator : locators) locator.unmatched().report(findings);
  lines.report(findings);
  report.read(options.image, findings);
  if (!options.findings.quiet) say_left_out(options.image, lines.left_out());
  ntfs::note_left_out(lines.left_out(), findings);
  writer.finish(locators, count, findings);
  output.commit();
  return report.exit();
}

Exit run_ntfs_locate(const NtfsLocateOptions& options) {
  if (options.places.places.empty() && options.places.list.empty())
    throw CLI::RequiredError{"PLACE or --places"};
  AskedPlaces asked{options.places};
  const auto names = options.names.read_key();
  Output output{options.output};
  Report report{options.findings};
  core::Findings findings;
  auto given = open_given(options, findings, report);
  if (!given) return report.exit();
  return given->is_snapshot()
             ? locate_in_snapshot(options, *given, std::move(findings), asked, output, report)
             : locate_in_image(options, std::move(*given), std::move(findings), names.get(), asked,
                               output, report);
}

}  // namespace

void add_ntfs_locate(CLI::App& app, Exit& exit) {
  add_command<NtfsLocateOptions>(
      app, exit,
      {"locate",
       "Identify what offsets of a disk image belong to: a file, a deleted file, slack, $MFT, an "
       "index, the journal, free space",
       "  coldtrace ntfs locate disk.E01 0x2400000 s:73728\n"
       "  coldtrace ntfs locate --partition 2 disk.img c:8704\n"
       "  coldtrace ntfs locate --sectors --places sectors.txt --format ndjson disk.img\n"
       "  coldtrace ntfs locate files.ndjson.zst 0x2400000\n"
       "  bulk-scan disk.img | coldtrace ntfs locate disk.img --places -\n",
       "  0  there is an answer for every place\n"
       "  1  damage was found, or a place is outside the image or volume\n"
       "  2  there is no NTFS volume, the input cannot be read, or a place is invalid\n"},
      {"text", "ndjson", "json"},
      [](Command& command, NtfsLocateOptions& options) {
        add_volume_options(command, options);
        add_shadow_option(command, options.shadows);
        add_place_options(command, options.places);
        add_names_options(command, options.names);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_locate);
}

}  // namespace coldtrace::cli
