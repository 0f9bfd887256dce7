#include "cli/ntfs/history/file_versions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/ntfs/walk.hpp"

namespace coldtrace::cli {
namespace {

// Those that a file itself has. A stale entry or one in slack is of a directory.
constexpr ntfs::StateSet file_states = {ntfs::State::live, ntfs::State::deleted,
                                        ntfs::State::detached, ntfs::State::unreachable};

// A record is given the next sequence when its file is deleted.
ntfs::FileReference reference_of(const ntfs::RowSource& source) {
  auto file = source.file;
  if (source.state == ntfs::State::deleted && file.sequence > 1) --file.sequence;
  return file;
}

std::string normalized(std::string path) {
  std::ranges::replace(path, '\\', '/');
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  return path;
}

RowFields metadata_fields() {
  std::vector<std::string> names;
  for (const auto& name : row_field_names())
    if (name != "index" && name != "record_offset" && name != "entry" && name != "findings" &&
        name != "volume")
      names.push_back(name);
  return RowFields{names};
}

std::string time_of(core::FileTime time) {
  return time.ticks == 0 ? "-" : exact_text_time(time);
}

std::string extents_of(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                       const ntfs::StreamRow& stream) {
  constexpr std::size_t shown = 4;
  if (stream.resident) return "resident";
  std::string text;
  const auto extents = row.extents_of(stream);
  for (const auto& extent : extents.first(std::min(extents.size(), shown))) {
    const auto at = extent.lcn ? snapshot.volume().mft().clusters().offset_of(*extent.lcn)
                               : std::optional<u64>{};
    text += fmt::format("{}{} cluster{} {}", text.empty() ? "" : ", ", extent.clusters,
                        extent.clusters == 1 ? "" : "s",
                        at ? fmt::format("at {:#x}", *at) : std::string{"nowhere"});
  }
  if (extents.size() > shown) text += fmt::format(", {} more", extents.size() - shown);
  return text.empty() ? "nowhere" : text;
}

std::string summary_of(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row) {
  std::string text;
  if (row.source->state != ntfs::State::live)
    text += fmt::format("[{}] ", to_string(row.source->state));
  text += printable(row.path());
  if (const auto& information = row.facts.information) {
    const auto& times = information->times;
    text += fmt::format("\n      created {}, modified {}, changed {}, accessed {}",
                        time_of(times.created), time_of(times.modified), time_of(times.changed),
                        time_of(times.accessed));
  }
  for (const auto& stream : row.streams)
    text += fmt::format("\n      {}{} bytes, {}",
                        stream.name.empty() ? "" : ":" + printable(to_utf8(stream.name)) + " ",
                        stream.size ? std::to_string(*stream.size) : "?",
                        extents_of(snapshot, row, stream));
  return text;
}

}  // namespace

// What was found of one stretch of rows.
struct VolumeHistory::Batch {
  struct Found {
    ntfs::FileReference file;
    FileVersion version;
  };
  ntfs::RowBatch rows;
  std::vector<std::size_t> patterns;
  std::vector<Found> found;
};

bool FileHistory::is_in(std::size_t view) const {
  return std::ranges::any_of(versions, [&](const FileVersion& version) {
    return std::ranges::binary_search(version.views, view);
  });
}

VolumeHistory::VolumeHistory(const std::vector<std::string>& paths) : found_(paths.size()) {
  for (const auto& path : paths) paths_.push_back(normalized(path));
}

void VolumeHistory::search(const ntfs::Snapshot& snapshot, unsigned jobs) {
  ntfs::Walk walk{snapshot, file_states};
  std::vector<ntfs::FileRow> rows(std::max(jobs, 1U));
  core::ordered_pipeline<Batch>(
      jobs, [&](Batch& batch) { return walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) {
        batch.patterns.clear();
        batch.found.clear();
        for (const auto& source : batch.rows.rows) {
          if (!source.wanted || !source.has_record) continue;
          auto& row = rows[worker];
          snapshot.build_row(batch.rows, source, row);
          const auto path = row.path();
          for (std::size_t i = 0; i < paths_.size(); ++i) {
            if (!glob_matches(paths_[i], path, GlobCase::insensitive)) continue;
            batch.patterns.push_back(i);
            batch.found.push_back({reference_of(source), {}});
          }
        }
      },
      [&](Batch& batch) {
        for (const auto pattern : batch.patterns) found_[pattern] = true;
        for (const auto& [file, unused] : batch.found) {
          limited_ |= files_.size() == most_versions;
          if (limited_) return;
          if (by_reference_.emplace(std::pair{file.record, file.sequence}, files_.size()).second)
            files_.push_back({file, {}});
        }
      });
}

void VolumeHistory::collect(const ntfs::Snapshot& snapshot, std::size_t view, unsigned jobs) {
  struct Worker {
    std::unique_ptr<RowFormat> format =
        make_json_rows(metadata_fields(), Int64::number, false, {"", 0, 0}, {});
    ntfs::FileRow row;
    core::TextBuffer text;
  };
  ntfs::Walk walk{snapshot, file_states};
  std::vector<Worker> workers(std::max(jobs, 1U));
  core::ordered_pipeline<Batch>(
      jobs, [&](Batch& batch) { return walk.next(batch.rows); },
      [&](unsigned worker, Batch& batch) {
        batch.found.clear();
        auto& [format, row, text] = workers[worker];
        for (const auto& source : batch.rows.rows) {
          const auto file = reference_of(source);
          if (!source.wanted || !source.has_record ||
              !by_reference_.contains({file.record, file.sequence}))
            continue;
          snapshot.build_row(batch.rows, source, row);
          text.clear();
          format->write(snapshot, row, text);
          batch.found.push_back(
              {file, {std::string{text.view()}, summary_of(snapshot, row), row.path(), {view}}});
        }
      },
      [&](Batch& batch) {
        for (auto& [file, version] : batch.found) {
          auto& versions = files_[by_reference_.at({file.record, file.sequence})].versions;
          const auto same = std::ranges::find(versions, version.metadata, &FileVersion::metadata);
          if (same != versions.end()) {
            if (same->views.back() != view) same->views.push_back(view);
          } else if (versions_ == most_versions) {
            limited_ = true;
          } else {
            ++versions_;
            versions.push_back(std::move(version));
          }
        }
      });
}

}  // namespace coldtrace::cli
