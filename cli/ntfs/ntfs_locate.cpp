#include <algorithm>
#include <map>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/ntfs/asked_places.hpp"
#include "cli/ntfs/locate_rows.hpp"
#include "cli/ntfs/ntfs_commands.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/shadow_option.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/output/json_lines.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/ntfs/locate/disk_area.hpp"
#include "coldtrace/ntfs/locate/place_finder.hpp"

namespace coldtrace::cli {
namespace {

constexpr std::size_t most_at_once = 65'536;  // places of which the answers are in memory

struct NtfsLocateOptions : DiskOptions {
  PlaceOptions places;
  unsigned jobs = 1;

  bool has_lines() const { return format != "text"; }
};

// A volume that places may be in.
struct OpenVolume {
  const ntfs::Partition& partition;
  ntfs::Volume volume;
  ntfs::RecordTable records;
  VolumeName name;
  core::Findings findings;
};

// Those that are as they were at one time: of one shadow copy each, or as they are now.
using View = std::vector<OpenVolume>;

// The byte of a place, and what is known of it without a file system.
struct Aim {
  std::optional<u64> offset;
  ntfs::DiskArea area;
};

// Answers places a batch at a time.
class Locator {
 public:
  // What lies in no volume is answered by the `first` of several.
  Locator(const DiskInput& input, View& volumes, bool first)
      : input_{input}, volumes_{volumes}, first_{first} {
    for (const auto& volume : volumes)
      areas_.push_back(
          {volume.volume.mft().clusters(), volume.partition.offset, volume.partition.size});
  }

  template <class Write>
  void locate(const std::vector<AskedPlace>& asked, Write&& write);

  const std::map<std::string, u64, std::less<>>& counts() const { return counts_; }
  const core::NoMatch& unmatched() const { return unmatched_; }

 private:
  Aim aim(const AskedPlace& asked);
  Aim aim_at_cluster(const AskedPlace& asked);
  static std::string_view name_of_area(ntfs::DiskArea::Kind kind);

  const DiskInput& input_;
  View& volumes_;
  bool first_;
  std::vector<ntfs::VolumeArea> areas_;
  std::map<std::string, u64, std::less<>> counts_;
  core::NoMatch unmatched_;
};

std::string_view Locator::name_of_area(ntfs::DiskArea::Kind kind) {
  using Kind = ntfs::DiskArea::Kind;
  switch (kind) {
    case Kind::clusters:
    case Kind::outside_volume:
      return "outside_volume";
    case Kind::other_partition:
      return "other_partition";
    case Kind::unpartitioned:
      return "unpartitioned";
    case Kind::outside_image:
      return "outside_image";
  }
  return "outside_image";
}

Aim Locator::aim_at_cluster(const AskedPlace& asked) {
  const auto& map = areas_.front().clusters;
  if (const auto offset = map.offset_of(ntfs::Lcn{asked.number}))
    return {offset, {ntfs::DiskArea::Kind::clusters, 0}};
  unmatched_.add_sentence(fmt::format("{}: the volume has {} clusters", asked.text, map.clusters));
  return {std::nullopt, {ntfs::DiskArea::Kind::outside_volume, 0}};
}

Aim Locator::aim(const AskedPlace& asked) {
  if (asked.unit == PlaceUnit::cluster) return aim_at_cluster(asked);
  auto offset = std::optional{asked.number};
  if (asked.unit == PlaceUnit::sector)
    offset = core::checked_multiply(asked.number, input_.disk.sector_size);
  const u64 size = input_.file.source->size();
  const auto area = offset ? find_area(*offset, size, areas_, input_.disk.partitions)
                           : ntfs::DiskArea{ntfs::DiskArea::Kind::outside_image};
  if (area.kind == ntfs::DiskArea::Kind::outside_image)
    unmatched_.add_sentence(
        fmt::format("{} is beyond the end of the image, at {:#x}", asked.text, size));
  return {offset, area};
}

template <class Write>
void Locator::locate(const std::vector<AskedPlace>& asked, Write&& write) {
  using Kind = ntfs::DiskArea::Kind;
  std::vector<Aim> aims;
  std::vector<std::vector<u64>> offsets(volumes_.size());
  for (const auto& place : asked) {
    aims.push_back(aim(place));
    if (aims.back().area.kind == Kind::clusters)
      offsets[aims.back().area.index].push_back(*aims.back().offset);
  }
  std::vector<std::vector<ntfs::Place>> places(volumes_.size());
  for (std::size_t i = 0; i < volumes_.size(); ++i) {
    std::ranges::sort(offsets[i]);
    offsets[i].erase(std::unique(offsets[i].begin(), offsets[i].end()), offsets[i].end());
    if (!offsets[i].empty())
      places[i] =
          find_places(volumes_[i].volume, volumes_[i].records, offsets[i], volumes_[i].findings);
  }
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& [offset, area] = aims[i];
    LocatedPlace located{
        .asked = asked[i], .offset = offset, .sector_size = input_.disk.sector_size};
    if (area.kind == Kind::clusters || area.kind == Kind::outside_volume)
      located.volume = &volumes_[area.index].name;
    if (area.kind == Kind::clusters)
      located.place =
          &*std::ranges::lower_bound(places[area.index], *offset, {}, &ntfs::Place::offset);
    else
      located.area = name_of_area(area.kind);
    if (!first_ && located.volume == nullptr) continue;
    if (area.kind == Kind::other_partition)
      located.partition_kind = name_of(input_.disk.partitions[area.index].kind);
    ++counts_[std::string{holds(located)}];
    write(located);
  }
}

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

// Writes the answers in one format.
class LocateWriter {
 public:
  LocateWriter(const NtfsLocateOptions& options, Output& output)
      : options_{options}, output_{output}, lines_{output, options.format, options.int64} {}

  void begin(const DiskInput& input, const std::vector<View>& views) {
    if (!options_.has_lines()) return;
    auto& json = lines_.begin_header("coldtrace.ntfs-locate/1");
    write_disk(json, input);
    json.key("volumes").begin_array();
    for (const auto& view : views)
      for (const auto& volume : view) {
        json.begin_object().key("partition");
        write_partition(json, volume.partition);
        write_volume(json, volume.volume);
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

void refuse_clusters_of_several(const std::vector<AskedPlace>& asked, std::size_t volumes) {
  const auto cluster = std::ranges::find(asked, PlaceUnit::cluster, &AskedPlace::unit);
  if (volumes > 1 && cluster != asked.end())
    throw Failure{
        fmt::format("'{}' is a cluster of which volume? The image has {}; --partition or "
                    "--offset chooses",
                    printable(cluster->text), volumes)};
}

Exit run_ntfs_locate(const NtfsLocateOptions& options) {
  if (options.places.places.empty() && options.places.list.empty())
    throw Failure{"no place is asked for: PLACE or --places"};
  AskedPlaces asked{options.places};
  Output output{options.output};
  Report report{options.findings};
  core::Findings of_disk;
  const auto input = open_disk(options, report, of_disk);
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
  writer.begin(*input, views);
  std::vector<Locator> locators;
  for (auto& view : views) locators.emplace_back(*input, view, locators.empty());
  u64 count = 0;
  for (auto batch = asked.next(most_at_once); !batch.empty(); batch = asked.next(most_at_once)) {
    for (const auto& view : views) refuse_clusters_of_several(batch, view.size());
    for (auto& locator : locators)
      locator.locate(batch, [&](const LocatedPlace& located) { writer.write(located); });
    count += batch.size();
  }
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
       "  bulk-scan disk.img | coldtrace ntfs locate disk.img --places -\n",
       "  0  every place is answered\n"
       "  1  damage was found, or a place is outside of the image or volume\n"
       "  2  there is no NTFS volume, the image cannot be read, or what is asked for is no "
       "place\n"},
      {"text", "ndjson", "json"},
      [](Command& command, NtfsLocateOptions& options) {
        add_volume_options(command, options);
        add_shadow_option(command, options.shadows);
        add_place_options(command, options.places);
        add_jobs_option(command, options, options.jobs);
      },
      run_ntfs_locate);
}

}  // namespace coldtrace::cli
