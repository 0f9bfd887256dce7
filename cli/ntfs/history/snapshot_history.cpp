#include "cli/ntfs/history/snapshot_history.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "cli/ntfs/history/line_versions.hpp"
#include "cli/ntfs/line_json.hpp"
#include "cli/ntfs/snapshot_reader.hpp"
#include "cli/ntfs/snapshot_values.hpp"
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
  views.push_back({partition, header.start(), true});
}

template <class Visit>
void SnapshotHistory::visit_rows(Visit visit) {
  std::string path;
  visit_snapshot_rows(file_, mistyped_, [&](std::size_t number, const Value& json) {
    if (number >= views_.size() || !views_[number]) return;
    if (const auto row = read_history_row(json, path, mistyped_))
      visit(*views_[number], *row, json);
  });
}

std::string SnapshotHistory::read(core::Findings& findings) {
  SnapshotReader reader{file_, mistyped_};
  std::string lacking;
  std::string path;
  const bool read = reader.read_all(
      Int64::number,
      [&](SnapshotHeader& header, const Value&) {
        has_shadows_ |= header.partition.shadow.has_value();
        if (!partition_ || header.partition.number == *partition_)
          begin(header);
        else
          views_.emplace_back();
        return true;
      },
      [&](std::string_view type, const Value& json) {
        if (!is_shallow(json)) return false;
        if (!views_.back()) return true;
        if (type == "gap")
          volumes_[views_.back()->volume].views[views_.back()->view].lost.add(
              read_snapshot_gap(json));
        if (type != "file") return true;
        if (lacking.empty())
          for (const auto* const member : needed)
            if (!json.HasMember(member)) lacking += fmt::format(" {}", member);
        if (const auto row = read_history_row(json, path, mistyped_))
          volumes_[views_.back()->volume].history.search(*row);
        return true;
      });
  if (!read) return reader.why_none();
  if (auto refusal = reader.refusal(); !refusal.empty()) return refusal;
  if (volumes_.empty())
    return fmt::format("the snapshot has no volume of partition {}", partition_.value_or(0));
  if (!lacking.empty())
    return fmt::format(
        "rows lack members that identify their files:{}. Take the snapshot without --fields",
        lacking);
  visit_rows([&](const View& view, const VolumeHistory::Row& row, const Value& json) {
    auto& history = volumes_[view.volume].history;
    if (!history.has(row) || !is_shallow(json)) return;
    auto line = version_line(json);
    auto shown = version_summary(json, mistyped_);
    if (!as_text_) shown = line;
    history.collect(row, view.view, std::move(line), std::move(shown));
  });
  const auto& names = reader.names();
  if (reader.whole()) {
    names.report("are not searched", findings);
    left_out_ = names.left_out();
  }
  for (auto& volume : volumes_)
    for (auto& view : volume.views) view.whole = reader.whole() && names.has_all_files();
  reader.report(findings);
  mistyped_.report(findings);
  return {};
}

}  // namespace coldtrace::cli
