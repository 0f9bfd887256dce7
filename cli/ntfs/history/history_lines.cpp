#include "cli/ntfs/history/history_lines.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_time.hpp"

namespace coldtrace::cli {
namespace {

std::string name_of(const HistoryView& view) {
  return view.partition.shadow ? fmt::format("{}", view.partition.shadow->number)
                               : std::string{"live"};
}

// "1, 3, live": the views of which `is_chosen` is true.
template <class Chosen>
std::string names_of(const std::vector<HistoryView>& views, Chosen is_chosen) {
  std::string names;
  for (std::size_t i = 0; i < views.size(); ++i)
    if (is_chosen(i)) names += (names.empty() ? "" : ", ") + name_of(views[i]);
  return names;
}

// Members that say in which shadow copies, and whether now.
template <class Chosen>
void write_views(JsonWriter& json, std::string_view shadows, std::string_view live,
                 const std::vector<HistoryView>& views, Chosen is_chosen) {
  bool now = false;
  json.key(shadows).begin_array();
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!is_chosen(i)) continue;
    if (views[i].partition.shadow)
      json.value(views[i].partition.shadow->number);
    else
      now = true;
  }
  json.end_array().field(live, now);
}

// Where the volume starts is known of those that were opened.
const HistoryView& view_of_start(const std::vector<HistoryView>& views) {
  const auto opened = std::ranges::find(views, true, &HistoryView::opened);
  return opened == views.end() ? views.front() : *opened;
}

bool has(const FileVersion& version, std::size_t view) {
  return std::ranges::binary_search(version.views, view);
}

bool is_absent(const HistoryView& view, const FileHistory& file, std::size_t number) {
  return view.opened && view.whole && !file.is_in(number) && !view.lost.contain(file.file.record);
}

}  // namespace

void HistoryWriter::write_text(const std::vector<HistoryView>& views, const FileHistory& file) {
  print(output_, "record {}-{}\n", file.file.record, file.file.sequence);
  for (const auto& version : file.versions)
    print(output_, "  in {}: {}\n",
          names_of(views, [&](std::size_t view) { return has(version, view); }), version.shown);
  const auto absent =
      names_of(views, [&](std::size_t view) { return is_absent(views[view], file, view); });
  if (!absent.empty()) print(output_, "  not in {}\n", absent);
}

void HistoryWriter::write_version(const std::vector<HistoryView>& views, const FileHistory& file,
                                  const FileVersion& version) {
  const auto& known = view_of_start(views);
  auto& json = lines_.begin("version");
  write_volume_name(json, {image_, known.partition.number, known.start});
  json.field("record", file.file.record).field("sequence", file.file.sequence);
  write_views(json, "shadows", "live", views, [&](std::size_t view) { return has(version, view); });
  write_views(json, "absent_shadows", "absent_live", views,
              [&](std::size_t view) { return is_absent(views[view], file, view); });
  core::TextBuffer row;
  row.append(std::string_view{version.shown}.substr(0, version.shown.find('\n')));
  std::vector<core::TextBuffer> pieces;
  pieces.push_back(std::move(row));
  json.key("file").written(pieces);
  lines_.end();
}

void HistoryWriter::write(const std::function<void(JsonWriter&)>& begin,
                          const std::vector<HistoryView>& views, const VolumeHistory& history) {
  if (!is_text_) {
    auto& json = lines_.begin_header("coldtrace.ntfs-history/1");
    begin(json);
    json.key("views").begin_array();
    for (const auto& view : views) {
      json.begin_object().key("partition");
      write_partition(json, view.partition, named_);
      json.field("opened", view.opened).end_object();
    }
    json.end_array();
    lines_.end();
  } else {
    if (!std::exchange(is_begun_, true)) print(output_, "times ({})\n", text_zone());
    const auto& of_volume = view_of_start(views);
    if (of_volume.partition.number != 0)
      print(output_, "partition {} at {:#x}\n", of_volume.partition.number, of_volume.start);
    for (const auto& view : views)
      if (view.partition.shadow)
        print(output_, "shadow copy {}: {}{}\n", view.partition.shadow->number,
              exact_text_time(view.partition.shadow->created),
              view.opened ? "" : ", which cannot be read");
  }
  for (const auto& file : history.files()) {
    ++counts_.files;
    counts_.versions += file.versions.size();
    if (is_text_) write_text(views, file);
    if (is_text_) continue;
    for (const auto& version : file.versions) write_version(views, file, version);
  }
}

void HistoryWriter::finish(const core::Findings& findings) {
  if (is_text_) return;
  auto& json = lines_.begin_summary();
  json.key("counts")
      .begin_object()
      .field("files", counts_.files)
      .field("versions", counts_.versions)
      .end_object();
  json.key("findings");
  write_findings(json, findings);
  lines_.end_summary();
}

}  // namespace coldtrace::cli
