#include "cli/ntfs/history/version_text.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"

namespace coldtrace::cli {
namespace {

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

// One for each worker.
struct MetadataRow {
  std::unique_ptr<RowFormat> format =
      make_json_rows(metadata_fields(), Int64::number, false, {"", 0, 0}, {});
  core::TextBuffer text;
};

}  // namespace

ntfs::VolumeHistory::Show show_versions(const ntfs::Snapshot& snapshot, bool as_text,
                                        unsigned jobs) {
  if (as_text)
    return [&snapshot](unsigned, const ntfs::FileRow& row) { return summary_of(snapshot, row); };
  auto rows = std::make_shared<std::vector<MetadataRow>>(std::max(jobs, 1U));
  return [&snapshot, rows](unsigned worker, const ntfs::FileRow& row) {
    auto& [format, text] = (*rows)[worker];
    text.clear();
    format->write(snapshot, row, text);
    return std::string{text.view()};
  };
}

}  // namespace coldtrace::cli
