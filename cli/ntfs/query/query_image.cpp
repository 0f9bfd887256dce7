#include <algorithm>
#include <memory>

#include "cli/ntfs/query/query.hpp"
#include "cli/ntfs/query/query_text.hpp"
#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/rows/time_sorted_rows.hpp"
#include "cli/ntfs/snapshot_document.hpp"
#include "cli/ntfs/visited_volumes.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs_privacy/hashed_row.hpp"
#include "coldtrace/ntfs_query/row_values.hpp"

namespace coldtrace::cli {
namespace {

// Rows on their way from the walk to the output.
struct Batch {
  struct Chosen {
    std::size_t end;  // of its text
    SortKey key;
  };
  ntfs::RowBatch rows;
  core::TextBuffer text;
  std::vector<Chosen> chosen;
  core::Findings findings;
};

// What one thread needs to ask rows and to turn those that are chosen into text.
struct Worker {
  Worker(const QueryOptions& options, const ntfs::Snapshot& snapshot,
         const ntfs::Partition& partition, const RowContext& context)
      : values{snapshot, partition.number, partition.offset,
               partition.shadow ? partition.shadow->number : 0},
        deleted{context.deleted} {
    if (options.format != "text")
      format = make_row_format(options.format, options.row_fields(), options.int64, {},
                               {options.image, partition, snapshot.volume()}, context);
    if (deleted != nullptr) values.set_deleted(*deleted);
    if (context.names != nullptr) hasher.emplace(*context.names);
  }

  ntfs::RowValues values;
  const ntfs::DeletedTimes* deleted;  // null: not asked for
  std::unique_ptr<RowFormat> format;
  std::optional<ntfs::RowHasher> hasher;
  ntfs::FileRow row;
};

void choose_rows(const Query& query, const ntfs::Snapshot& snapshot, Worker& worker, Batch& batch) {
  batch.text.clear();
  batch.chosen.clear();
  batch.findings = {};
  snapshot.fetch_ahead(batch.rows);
  for (const auto& source : batch.rows.rows) {
    snapshot.build_row(batch.rows, source, worker.row);
    if (worker.deleted != nullptr) add_deletion_finding(*worker.deleted, worker.row);
    worker.values.set(worker.row);
    const bool wanted = source.wanted && query.wants(worker.values);
    if (worker.hasher) {
      worker.hasher->hash(worker.row);
      worker.values.set(worker.row);
    }
    note_findings(worker.row, batch.findings);
    if (!wanted) continue;
    if (worker.format)
      worker.format->write(snapshot, worker.row, batch.text);
    else
      append_query_text(batch.text, worker.values);
    batch.chosen.push_back({batch.text.size(), query.key_of(worker.values)});
  }
}

ntfs::StateSet states_of(const QueryOptions& options) {
  ntfs::StateSet states;
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    const auto state = static_cast<ntfs::State>(i);
    if (state != ntfs::State::slack || options.slack) states.add(state);
  }
  return states;
}

void query_volume(Query& query, const DiskInput& input, const ntfs::Partition& partition,
                  const ntfs::Volume& volume, core::Findings findings, Report& report,
                  SnapshotTotals& totals) {
  const auto& options = query.options;
  TerminalProgress progress{options.output, options.findings.quiet};
  const auto snapshot = take_snapshot(volume, options.jobs, options.slack, progress, findings,
                                      {.zone_ids = query.asks_zone_ids()});
  std::optional<ntfs::DeletedTimes> deleted;
  if (query.asks_deletions()) deleted = read_deleted_times(volume, snapshot.records(), findings);
  const RowContext context{query.names.get(), deleted ? &*deleted : nullptr};
  if (options.has_lines()) {
    JsonWriter json{query.output, options.int64};
    query.lines.separate();
    write_snapshot_header(json, input, partition, snapshot, query.names.get());
    for (const auto& gap : snapshot.gaps()) {
      query.lines.separate();
      write_snapshot_gap(json, gap);
    }
  }
  ntfs::Walk walk{snapshot, states_of(options)};
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < std::max(options.jobs, 1U); ++i)
    workers.push_back(std::make_unique<Worker>(options, snapshot, partition, context));
  progress.begin("asking", "names", 0);
  core::ordered_pipeline<Batch>(
      options.jobs, [&](Batch& batch) { return walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) { choose_rows(query, snapshot, *workers[worker], batch); },
      [&](Batch& batch) {
        std::size_t at = 0;
        for (auto& [end, key] : batch.chosen) {
          query.rows.add(std::move(key), batch.text.view().substr(at, end - at));
          at = end;
        }
        findings.merge(batch.findings);
        progress.add(0, batch.rows.rows.size());
      });
  findings.merge(walk.findings());
  totals.add(snapshot, walk);
  totals.findings.merge(findings);
  report.read(volume_title(options.image, partition), findings);
}

}  // namespace

bool query_image(Query& query, GivenFile given, core::Findings disk_findings, Report& report) {
  const auto& options = query.options;
  auto file = open_given_image(options, std::move(given), disk_findings, report);
  if (!file) return false;
  const auto input = find_volumes(options, std::move(*file), disk_findings, report);
  if (!input) return false;
  SnapshotTotals totals;
  query.output.write(header_of_times(options.format));
  if (options.format == "csv") query.output.write(csv_header(options.row_fields()));
  if (options.format == "text") query.output.write(file_text_heading());
  const auto unopened = visit_volumes(
      *input, options,
      [&](const ntfs::Partition& partition, const ntfs::Volume& volume, core::Findings findings) {
        query_volume(query, *input, partition, volume, std::move(findings), report, totals);
      });
  input->file.add_findings(disk_findings);
  totals.findings.merge(unopened.report(options.image, totals.volumes > 0, report));
  if (totals.volumes == 0) {
    report.tell(options.image, disk_findings);
    return false;
  }
  totals.findings.merge(disk_findings);
  if (!disk_findings.empty()) report.read(options.image, disk_findings);
  query.rows.end();
  query.add_no_match(totals.findings, report);
  if (options.has_lines()) {
    JsonWriter json{query.output, options.int64};
    query.lines.separate();
    write_snapshot_summary(json, totals, query.rows.matched());
    if (options.format == "json") query.output.write("]\n");
  }
  return true;
}

}  // namespace coldtrace::cli
