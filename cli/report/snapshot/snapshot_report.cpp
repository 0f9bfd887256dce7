#include "cli/report/snapshot/snapshot_report.hpp"

#include "cli/ntfs/visited_volumes.hpp"
#include "cli/report/snapshot/line_report.hpp"
#include "coldtrace/ntfs/summary/cluster_use.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::Snapshot;

ntfs::StateSet all_states() {
  ntfs::StateSet all;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) all.add(static_cast<ntfs::State>(i));
  return all;
}

// A copied $MFT does not say how large the clusters of its volume are, nor how many it has.
ntfs::ClusterMap known_clusters(const ntfs::Volume& volume) {
  return volume.mft().extracted() ? ntfs::ClusterMap{} : volume.mft().clusters();
}

void add_rows(const Snapshot& snapshot, VolumeReport& shown, core::Findings& findings) {
  const auto& volume = snapshot.volume();
  const auto clusters = known_clusters(volume);
  ntfs::ClusterUseCounter use{volume, shown.summary().clusters_of_place(),
                              shown.summary().map().size()};
  ntfs::Walk walk{snapshot, all_states()};
  ntfs::RowBatch batch;
  ntfs::FileRow row;
  ntfs::SummaryRow summary;
  while (walk.next(batch)) {
    snapshot.fetch_ahead(batch);
    for (const auto& source : batch.rows) {
      snapshot.build_row(batch, source, row);
      note_findings(row, findings);
      to_summary_row(row, clusters, summary);
      shown.add(summary);
      use.add(summary);
    }
    batch.clear();
  }
  findings.merge(walk.findings());
  if (!volume.mft().extracted()) shown.add_use(use, findings);
}

void add_volume(Page& page, const ntfs::Partition& partition, const ntfs::Volume& volume,
                const SnapshotReportOptions& options, core::Findings& findings) {
  const auto snapshot = Snapshot::take(volume, {.jobs = options.jobs, .slack = false}, findings);
  const auto& information = volume.information();
  VolumeReport shown{
      page,
      {volume_heading(partition.number, information ? std::string_view{information->label} : ""),
       fmt::format("{}-{}", options.id, partition.number), known_clusters(volume),
       volume.mft().extracted()},
      options,
      findings};
  add_rows(snapshot, shown, findings);
  std::vector<ShownFinding> all;
  append_findings(findings, all);
  shown.finish(all);
}

bool add_image(Page& page, const DiskOptions& options, GivenFile given,
               const SnapshotReportOptions& report_options, core::Findings disk_findings,
               Report& report) {
  auto file = open_given_image(options, std::move(given), disk_findings, report);
  if (!file) return false;
  const auto input = find_volumes(options, std::move(*file), disk_findings, report);
  if (!input) return false;
  if (report_options.traced != nullptr && input->disk.kind != ntfs::DiskKind::volume)
    report_options.traced->set_whole_disk(input->file.source->size());
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
  if (volumes > 0 && !disk_findings.empty()) {
    std::vector<ShownFinding> shown;
    append_findings(disk_findings, shown);
    auto& html = add_section(page, report_options.id + "-all", "Findings of the image");
    write_findings_table(html, report_options.id + "-all-findings", shown);
  }
  return volumes > 0;
}

}  // namespace

bool add_snapshot_report(Page& page, const DiskOptions& options,
                         std::unique_ptr<core::ImageSource> piped,
                         const SnapshotReportOptions& report_options, Report& report) {
  core::Findings findings;
  auto given = piped ? take_piped(std::move(piped), options, findings, report)
                     : open_given(options, findings, report);
  if (!given) return false;
  const bool added =
      given->is_snapshot()
          ? add_line_report(page, {options.image, *given->bytes}, report_options, findings, report)
          : add_image(page, options, std::move(*given), report_options, findings, report);
  if (added && page.title.empty()) page.title = "Disk with NTFS volumes";
  return added;
}

}  // namespace coldtrace::cli
