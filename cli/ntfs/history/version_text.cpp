#include "cli/ntfs/history/version_text.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_size.hpp"
#include "cli/output/text_time.hpp"
#include "coldtrace/ntfs_privacy/hashed_row.hpp"

namespace coldtrace::cli {
namespace {

std::string time_of(core::FileTime time) {
  return time.ticks == 0 ? "-" : exact_text_time(time);
}

std::string extents_of(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                       const ntfs::StreamRow& stream) {
  if (stream.resident) return "resident";
  std::vector<PlacedExtent> placed;
  for (const auto& extent : row.extents_of(stream))
    placed.push_back(
        {extent.clusters,
         extent.lcn ? snapshot.volume().mft().clusters().offset_of(*extent.lcn) : std::nullopt});
  return extents_text(placed);
}

std::string summary_of(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row) {
  std::string text;
  if (row.source->state != ntfs::State::live)
    text += fmt::format("[{}] ", to_string(row.source->state));
  text += printable(row.exact_path());
  if (const auto& information = row.facts.information) text += times_text(information->times);
  for (const auto& stream : row.streams)
    text += stream_text(to_exact(stream.name), stream.size, extents_of(snapshot, row, stream));
  return text;
}

// One for each worker.
struct ShownRow {
  std::unique_ptr<RowFormat> format;
  std::optional<ntfs::RowHasher> hasher;
  core::TextBuffer text;
};

}  // namespace

RowFields metadata_fields() {
  std::vector<std::string> names;
  for (const auto& name : row_field_names())
    if (name != "index" && name != "record_offset" && name != "entry" && name != "findings" &&
        name != "volume")
      names.push_back(name);
  return RowFields{names};
}

std::string extents_text(std::span<const PlacedExtent> extents) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (const auto& extent : extents.first(std::min(extents.size(), shown)))
    text += fmt::format(
        "{}{} {}", text.empty() ? "" : ", ", counted(extent.clusters, "cluster", "clusters"),
        extent.offset ? fmt::format("at {:#x}", *extent.offset) : std::string{"nowhere"});
  if (extents.size() > shown) text += fmt::format(", {} more", grouped(extents.size() - shown));
  return text.empty() ? "nowhere" : text;
}

std::string times_text(const ntfs::Times& times) {
  return fmt::format("\n      created {}, modified {}, changed {}, accessed {}",
                     time_of(times.created), time_of(times.modified), time_of(times.changed),
                     time_of(times.accessed));
}

std::string stream_text(std::string_view name, std::optional<u64> size, std::string_view extents) {
  return fmt::format("\n      {}{}, {}",
                     name.empty() ? "" : ":" + printable(std::string{name}) + " ",
                     size ? text_size_in_words(*size) : "? bytes", extents);
}

ntfs::VolumeHistory::Hide hide_names(const privacy::HashedNames* names, unsigned jobs) {
  if (names == nullptr) return {};
  auto hashers = std::make_shared<std::vector<std::optional<ntfs::RowHasher>>>(std::max(jobs, 1U));
  for (auto& hasher : *hashers) hasher.emplace(*names);
  return [hashers](unsigned worker, ntfs::FileRow& row) { (*hashers)[worker]->hash(row); };
}

ntfs::VolumeHistory::Show show_versions(const ntfs::Snapshot& snapshot, bool as_text, unsigned jobs,
                                        const privacy::HashedNames* names) {
  auto rows = std::make_shared<std::vector<ShownRow>>(std::max(jobs, 1U));
  for (auto& row : *rows) {
    row.format = make_json_rows(metadata_fields(), Int64::number, false, {"", 0, 0}, {names});
    if (names != nullptr) row.hasher.emplace(*names);
  }
  return [&snapshot, rows, as_text](unsigned worker, ntfs::FileRow& row) {
    auto& [format, hasher, text] = (*rows)[worker];
    if (hasher) hasher->hash(row);
    if (as_text) return summary_of(snapshot, row);
    text.clear();
    format->write(snapshot, row, text);
    return std::string{text.view()};
  };
}

}  // namespace coldtrace::cli
