#include "cli/ntfs/history/snapshot_history.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/ntfs/history/line_versions.hpp"
#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "cli/ntfs/snapshot_selection.hpp"
#include "cli/output/json_members.hpp"

namespace coldtrace::cli {
namespace {

using rapidjson::Value;

constexpr const char* needed[] = {"path", "record", "sequence", "state"};

}  // namespace

void SnapshotHistory::begin(const SnapshotHeader& header) {
  const auto& partition = header.partition;
  if (volumes_.empty() || headers_.back().partition.offset != partition.offset) {
    volumes_.push_back({{}, VolumeHistory{paths_}});
    headers_.push_back(header);
  }
  auto& views = volumes_.back().views;
  views_.push_back(View{volumes_.size() - 1, views.size()});
  views.push_back({partition, true});
}

template <class Visit>
void SnapshotHistory::visit_rows(Visit visit) {
  SnapshotLines lines{file_};
  std::size_t count = 0;
  std::string path;
  static_cast<void>(lines.read_all([&](const Value& json) {
    if (!json.IsObject()) return false;
    if (is_snapshot_header(json)) ++count;
    if (count == 0 || count > views_.size() || !views_[count - 1] ||
        text_member(json, "type") != "file")
      return true;
    if (const auto row = read_history_row(json, path, mistyped_))
      visit(*views_[count - 1], *row, json);
    return true;
  }));
}

std::string SnapshotHistory::read(core::Findings& findings) {
  SnapshotLines lines{file_};
  SnapshotDamage damage;
  SnapshotSelection selection;
  OneRun run;
  std::string lacking;
  std::string path;
  const bool read = lines.read_all([&](const Value& json) {
    if (!json.IsObject() || !is_shallow(json)) return false;
    if (is_snapshot_header(json)) {
      const auto header = read_snapshot_header(json, Int64::number);
      if (!header) return false;
      run.read_header(*header);
      has_shadows_ |= header->partition.shadow.has_value();
      if (!partition_ || header->partition.number == *partition_)
        begin(*header);
      else
        views_.emplace_back();
      return true;
    }
    if (views_.empty()) return false;
    const auto type = text_member(json, "type");
    if (type == "file") selection.read_row(json);
    if (type == "summary") {
      run.read_summary();
      selection.read_summary(json);
      damage.read(json);
    }
    if (type != "file" || !views_.back()) return true;
    if (lacking.empty())
      for (const auto* const member : needed)
        if (!json.HasMember(member)) lacking += fmt::format(" {}", member);
    if (const auto row = read_history_row(json, path, mistyped_))
      volumes_[views_.back()->volume].history.search(*row);
    return true;
  });
  if (!read) return "neither an image nor the NDJSON of 'coldtrace ntfs snapshot'";
  if (auto refusal = run.refusal(); !refusal.empty()) return refusal;
  if (volumes_.empty())
    return fmt::format("the snapshot has no volume of partition {}", partition_.value_or(0));
  if (!lacking.empty())
    return fmt::format(
        "rows lack members that say which file they are of:{}. Take the snapshot without --fields",
        lacking);
  visit_rows([&](const View& view, const VolumeHistory::Row& row, const Value& json) {
    auto& history = volumes_[view.volume].history;
    if (!history.has(row) || !is_shallow(json)) return;
    auto line = version_line(json);
    auto shown = version_summary(json, mistyped_);
    if (!as_text_) shown = line;
    history.collect(row, view.view, std::move(line), std::move(shown));
  });
  if (lines.whole()) {
    selection.report(findings);
    left_out_ = selection.left_out();
  }
  for (auto& volume : volumes_)
    for (auto& view : volume.views) view.whole = lines.whole() && selection.has_all_files();
  lines.report(findings);
  damage.report(findings);
  mistyped_.report(findings);
  return {};
}

}  // namespace coldtrace::cli
