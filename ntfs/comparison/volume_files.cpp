#include "coldtrace/ntfs/comparison/volume_files.hpp"

#include <algorithm>
#include <atomic>

#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::ntfs {
namespace {

struct Batch {
  RowBatch rows;
  std::vector<ComparedFile> files;
  std::vector<FileReference> unlisted;
  core::Findings findings;
};

// Makes what is compared of the rows of a batch.
void compare_rows(const Snapshot& snapshot, const ChangeFile& change, FileRow& row, Batch& batch) {
  batch.findings = {};
  batch.unlisted.clear();
  std::size_t count = 0;
  snapshot.fetch_ahead(batch.rows);
  for (const auto& source : batch.rows.rows) {
    snapshot.build_row(batch.rows, source, row);
    note_findings(row, batch.findings);
    if (source.state == State::unreachable || source.state == State::detached)
      batch.unlisted.push_back(source.file);
    if (source.state != State::live) continue;
    if (batch.files.size() == count) batch.files.emplace_back();
    auto& file = batch.files[count++];
    to_compared(row, file);
    if (change) change(file);
  }
  batch.files.resize(count);
}

}  // namespace

core::Result<ComparedFiles> read_compared_files(const Volume& volume, unsigned jobs,
                                                core::Findings& findings,
                                                const ChangeFile& change) {
  auto files = ComparedFiles::create();
  if (!files) return files;
  const auto snapshot = Snapshot::take(volume, {.jobs = jobs, .slack = false}, findings);
  for (const auto& gap : snapshot.gaps()) files->add_gap(gap);
  Walk walk{snapshot, {State::live}};
  std::vector<FileRow> rows(std::max(jobs, 1U));
  core::Result<core::Done> added;
  std::atomic<bool> failed = false;
  core::ordered_pipeline<Batch>(
      jobs, [&](Batch& batch) { return !failed && walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) { compare_rows(snapshot, change, rows[worker], batch); },
      [&](Batch& batch) {
        for (std::size_t i = 0; i < batch.files.size() && added; ++i)
          added = files->add(batch.files[i]);
        if (files->has_gaps())
          for (const auto& file : batch.unlisted) files->add_unlisted(file);
        failed = !added;
        findings.merge(batch.findings);
      });
  findings.merge(walk.findings());
  if (added) added = files->finish();
  if (!added) return core::fail(added.error());
  return files;
}

}  // namespace coldtrace::ntfs
