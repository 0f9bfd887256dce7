#include "coldtrace/ntfs/history/volume_history.hpp"

#include <algorithm>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::ntfs {
namespace {

// Those that a file itself has. A stale entry or one in slack is of a directory.
constexpr StateSet file_states = {State::live, State::deleted, State::detached, State::unreachable};

// A record is given the next sequence when its file is deleted.
FileReference reference_of(FileReference file, State state) {
  if (state == State::deleted && file.sequence > 1) --file.sequence;
  return file;
}

std::string normalized(std::string path) {
  std::ranges::replace(path, '\\', '/');
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  return path;
}

}  // namespace

// What was found of one stretch of rows.
struct VolumeHistory::Batch {
  struct Found {
    FileReference file;
    FileVersion version;
  };
  RowBatch rows;
  std::vector<std::size_t> patterns;
  std::vector<FileReference> matches;
  std::vector<Found> found;
  core::Findings findings;
};

bool FileHistory::is_in(std::size_t view) const {
  return std::ranges::any_of(versions, [&](const FileVersion& version) {
    return std::ranges::binary_search(version.views, view);
  });
}

VolumeHistory::VolumeHistory(const std::vector<std::string>& paths) : found_(paths.size()) {
  for (const auto& path : paths) paths_.push_back(normalized(path));
}

void VolumeHistory::search(const Snapshot& snapshot, unsigned jobs, core::Findings& findings,
                           const Hide& hide) {
  Walk walk{snapshot, file_states};
  std::vector<FileRow> rows(std::max(jobs, 1U));
  core::ordered_pipeline<Batch>(
      jobs, [&](Batch& batch) { return walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) {
        batch.patterns.clear();
        batch.matches.clear();
        batch.findings = {};
        auto& row = rows[worker];
        for (const auto& source : batch.rows.rows) {
          snapshot.build_row(batch.rows, source, row);
          const bool has_file = source.wanted && source.has_record;
          const auto path = has_file ? row.path() : std::string{};
          for (std::size_t i = 0; has_file && i < paths_.size(); ++i) {
            if (!glob_matches(paths_[i], path, GlobCase::insensitive)) continue;
            batch.patterns.push_back(i);
            batch.matches.push_back(reference_of(source.file, source.state));
          }
          if (hide) hide(worker, row);
          note_findings(row, batch.findings);
        }
      },
      [&](Batch& batch) {
        for (const auto pattern : batch.patterns) found_[pattern] = true;
        for (const auto& file : batch.matches) remember(file);
        findings.merge(batch.findings);
      });
  findings.merge(walk.findings());
}

void VolumeHistory::remember(const FileReference& file) {
  limited_ |= files_.size() == most_versions;
  if (limited_) return;
  if (by_reference_.emplace(std::pair{file.record, file.sequence}, files_.size()).second)
    files_.push_back({file, {}});
}

void VolumeHistory::search(const Row& row) {
  if (!file_states.contains(row.state)) return;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (!glob_matches(paths_[i], row.path, GlobCase::insensitive)) continue;
    found_[i] = true;
    remember(reference_of(row.file, row.state));
  }
}

bool VolumeHistory::has(const Row& row) const {
  const auto file = reference_of(row.file, row.state);
  return file_states.contains(row.state) && by_reference_.contains({file.record, file.sequence});
}

void VolumeHistory::collect(const Row& row, std::size_t view, std::string line, std::string shown) {
  add(reference_of(row.file, row.state), {{}, std::move(line), std::move(shown), {view}});
}

void VolumeHistory::add(const FileReference& file, FileVersion version) {
  const auto view = version.views.front();
  const auto known = by_reference_.find({file.record, file.sequence});
  if (known == by_reference_.end()) return;
  auto& versions = files_[known->second].versions;
  const auto same = std::ranges::find_if(versions, [&](const FileVersion& other) {
    return other.value == version.value && other.line == version.line;
  });
  if (same != versions.end()) {
    if (same->views.back() != view) same->views.push_back(view);
  } else if (versions_ == most_versions) {
    limited_ = true;
  } else {
    ++versions_;
    versions.push_back(std::move(version));
  }
}

void VolumeHistory::collect(const Snapshot& snapshot, std::size_t view, unsigned jobs,
                            core::Findings& findings, const Show& show) {
  Walk walk{snapshot, file_states};
  std::vector<FileRow> rows(std::max(jobs, 1U));
  core::ordered_pipeline<Batch>(
      jobs, [&](Batch& batch) { return walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) {
        batch.found.clear();
        auto& row = rows[worker];
        for (const auto& source : batch.rows.rows) {
          const auto file = reference_of(source.file, source.state);
          if (!source.wanted || !source.has_record ||
              !by_reference_.contains({file.record, file.sequence}))
            continue;
          snapshot.build_row(batch.rows, source, row);
          auto value = to_value(row);
          batch.found.push_back({file, {std::move(value), {}, show(worker, row), {view}}});
        }
      },
      [&](Batch& batch) {
        for (auto& [file, version] : batch.found) add(file, std::move(version));
      });
  findings.merge_unknown(walk.findings());
}

}  // namespace coldtrace::ntfs
