#include "cli/report/snapshot/snapshot_report.hpp"

#include "cli/ntfs/visited_volumes.hpp"
#include "cli/report/snapshot/volume_names_data.hpp"
#include "cli/report/snapshot/volume_sections.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::Snapshot;
using ntfs::VolumeSummary;

ntfs::StateSet all_states() {
  ntfs::StateSet all;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) all.add(static_cast<ntfs::State>(i));
  return all;
}

// Of a volume with more names those whose files are largest are searched.
constexpr std::size_t most_names = 250'000;

void summarize(const Snapshot& snapshot, VolumeSummary& summary, ntfs::VolumeNames& names,
               TracedVolumes* traced, core::Findings& findings) {
  ntfs::Walk walk{snapshot, all_states()};
  ntfs::RowBatch batch;
  ntfs::FileRow row;
  while (walk.next(batch)) {
    for (const auto& source : batch.rows) snapshot.records().fetch_ahead(source.file.record);
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, findings);
      summary.add(row);
      names.add(row);
      if (traced != nullptr) traced->add(row);
    }
    batch.clear();
  }
  findings.merge(walk.findings());
  summary.finish();
  names.finish();
}

std::string title_of(const ntfs::Partition& partition, const ntfs::Volume& volume) {
  auto title =
      partition.number == 0 ? std::string{"Volume"} : fmt::format("Partition {}", partition.number);
  if (const auto& information = volume.information(); information && !information->label.empty())
    title += fmt::format(" \"{}\"", information->label);
  return title;
}

// In what room the page has, less a fifth for what follows.
void add_names(Page& page, const VolumeAnswers& answers, const ntfs::VolumeNames& names,
               u64 largest) {
  const auto written = size_of(page);
  const auto room = (largest - std::min(largest, written)) / 5 * 4;
  auto data = names_data(answers, names, room);
  write_search(page.sections.back().content, answers, names, data);
  if (data.names > 0) page.data.push_back(std::move(data.packed));
}

void add_volume(Page& page, const ntfs::Partition& partition, const ntfs::Volume& volume,
                const SnapshotReportOptions& options, core::Findings& findings) {
  const auto snapshot = Snapshot::take(volume, {.jobs = options.jobs, .slack = false}, findings);
  const auto& clusters = volume.mft().clusters();
  VolumeSummary summary{clusters.clusters, clusters.cluster_size,
                        static_cast<std::size_t>(options.top)};
  ntfs::VolumeNames names{clusters.cluster_size, most_names};
  auto* const traced = volume.mft().extracted() ? nullptr : options.traced;
  if (traced != nullptr)
    traced->begin_volume(page.sections.size(), clusters, summary);
  else if (options.traced != nullptr)
    findings.warning("snapshot-without-places", std::nullopt,
                     "$MFT alone does not say where on the disk its files are: no request of the "
                     "trace is laid on it");
  summarize(snapshot, summary, names, traced, findings);
  const VolumeAnswers answers{summary, findings, clusters.cluster_size,
                              fmt::format("{}-{}", options.id, partition.number), options.top};
  auto& html = add_section(page, answers.id, title_of(partition, volume));
  const auto live = summary.states()[static_cast<std::size_t>(ntfs::State::live)];
  page.overview.push_back(fmt::format(
      "{}: {} in clusters of {}; {} with {}, and {} that are deleted.", title_of(partition, volume),
      short_bytes(clusters.clusters * clusters.cluster_size), short_bytes(clusters.cluster_size),
      counted(live.names, "name", "names"), short_bytes(live.bytes),
      grouped(summary.states()[static_cast<std::size_t>(ntfs::State::deleted)].names)));
  write_states(html, answers);
  write_sizes(html, answers);
  write_activity(html, answers);
  write_map(html, answers);
  write_files(html, answers);
  write_volume_findings(html, answers);
  page.data.push_back(volume_data(answers));
  add_names(page, answers, names, options.largest);
}

}  // namespace

bool add_snapshot_report(Page& page, const DiskOptions& options,
                         const SnapshotReportOptions& report_options, Report& report) {
  core::Findings disk_findings;
  const auto input = open_disk(options, report, disk_findings);
  if (!input) return false;
  if (page.title.empty()) page.title = "Disk with NTFS volumes";
  u64 volumes = 0;
  const auto unopened = visit_volumes(
      *input, options,
      [&](const ntfs::Partition& partition, const ntfs::Volume& volume, core::Findings findings) {
        ++volumes;
        add_volume(page, partition, volume, report_options, findings);
        report.read(options.image, findings);
      });
  input->file.add_findings(disk_findings);
  disk_findings.merge(unopened.report(options.image, volumes > 0, report));
  report.tell(options.image, disk_findings);
  return volumes > 0;
}

}  // namespace coldtrace::cli
