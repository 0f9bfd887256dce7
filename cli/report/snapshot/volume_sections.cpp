#include "cli/report/snapshot/volume_sections.hpp"

#include <algorithm>

#include "cli/report/page/charts.hpp"
#include "cli/report/page/html_table.hpp"

namespace coldtrace::cli {
namespace {

using ntfs::State;
using ntfs::VolumeSummary;

constexpr u64 day = u64{24} * 60 * 60 * 10'000'000;
constexpr std::array<std::string_view, 4> kinds{"Created", "Modified", "Changed", "Accessed"};

std::string date_of(u64 number) {
  return core::to_string(core::FileTime{number * day}).substr(0, 10);
}

// From the root: "/Users/a".
std::string path_of(const std::vector<VolumeSummary::Directory>& directories, u32 number) {
  std::string path;
  for (auto at = number; at != 0; at = directories[at].parent)
    path.insert(0, directories[at].name).insert(0, 1, '/');
  return path.empty() ? "/" : path;
}

void write_file_table(Html& html, const VolumeAnswers& answers, std::string_view name,
                      std::string_view caption, const std::vector<VolumeSummary::File>& files) {
  if (files.empty()) return;
  HtmlTable table{html,
                  fmt::format("{}-{}", answers.id, name),
                  caption,
                  {{"Path"}, {"On disk", true}, {"Size", true}, {"Extents", true}, {"Modified"}}};
  for (const auto& file : files) {
    table.text(file.path.empty() ? "(without a name)" : file.path);
    table.bytes(file.on_disk);
    table.bytes(file.size);
    table.count(file.extents);
    table.word(file.modified ? core::to_string(*file.modified).substr(0, 19) : "-");
  }
  table.finish(0);
}

}  // namespace

void write_states(Html& html, const VolumeAnswers& answers) {
  HtmlTable table{
      html,
      answers.id + "-states",
      "Names by how they were found, and what their files take of the disk; a file with "
      "several names counts once",
      {{"State"}, {"Names", true}, {"Bytes", true}}};
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    const auto& sums = answers.summary.states()[i];
    if (sums.names == 0) continue;
    table.text(to_string(static_cast<State>(i)));
    table.count(sums.names);
    table.bytes(sums.bytes);
  }
  table.finish(0);
}

void write_sizes(Html& html, const VolumeAnswers& answers) {
  const auto& directories = answers.summary.directories();
  if (directories[0].bytes == 0) return;
  html.element("h3", "Sizes");
  html.markup(
      fmt::format("<div id=\"{}-treemap\" class=\"treemap\" data-label=\"Sizes of "
                  "directories\"></div>\n",
                  answers.id));
  std::vector<u32> order(directories.size());
  for (u32 i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&](u32 i) { return directories[i].bytes; });
  const auto shown = std::min<std::size_t>(order.size(), answers.top);
  HtmlTable table{html,
                  answers.id + "-directories",
                  "What directories take of the disk, with all that is below them",
                  {{"Directory"}, {"Bytes", true}, {"Share", true}, {"Files", true}}};
  for (const auto number : std::span{order}.first(shown)) {
    const auto& one = directories[number];
    table.text(path_of(directories, number));
    table.bytes(one.bytes);
    table.share(static_cast<i64>(one.bytes), static_cast<i64>(directories[0].bytes));
    table.count(one.files);
  }
  table.finish(order.size() - shown);
}

void write_activity(Html& html, const VolumeAnswers& answers) {
  const auto& days = answers.summary.days();
  if (days.empty()) return;
  html.element("h3", "Activity");
  constexpr u64 most_bins = 480;
  const auto first = days.begin()->first, last = days.rbegin()->first;
  const auto step = (last - first) / most_bins + 1;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    std::vector<i64> bins((last - first) / step + 1);
    for (const auto& [number, counts] : days)
      bins[(number - first) / step] += static_cast<i64>(counts[kind]);
    write_strip(html, {fmt::format("{}: most {} in {}", kinds[kind],
                                   grouped(static_cast<u64>(std::ranges::max(bins))),
                                   step == 1 ? "a day" : fmt::format("{} days", step)),
                       bins, std::ranges::max(bins), date_of(first), date_of(last),
                       fmt::format(" data-brush=\"{}-search\" data-kind=\"{}\" "
                                   "data-first=\"{}\" data-step=\"{}\" data-bins=\"{}\"",
                                   answers.id, kind, first, step, bins.size())});
  }
  std::map<std::string, VolumeSummary::Day> months;
  for (const auto& [number, counts] : days)
    for (std::size_t i = 0; i < counts.size(); ++i)
      months[date_of(number).substr(0, 7)][i] += counts[i];
  HtmlTable table{
      html,
      answers.id + "-months",
      "Times of $STANDARD_INFORMATION by month (UTC)",
      {{"Month"}, {"Created", true}, {"Modified", true}, {"Changed", true}, {"Accessed", true}}};
  u64 left_out = 0;
  for (auto month = months.rbegin(); month != months.rend(); ++month) {
    if (table.rows() >= answers.top) {
      ++left_out;
      continue;
    }
    table.word(month->first);
    for (const auto count : month->second) table.count(count);
  }
  table.finish(left_out);
}

void write_map(Html& html, const VolumeAnswers& answers) {
  const auto& map = answers.summary.map();
  if (map.empty()) return;
  html.element("h3", "Where it lies");
  const auto bytes = answers.summary.clusters_of_place() * answers.cluster_size;
  const auto most = static_cast<i64>(answers.summary.clusters_of_place());
  const auto end = short_bytes(map.size() * bytes);
  std::vector<i64> live, deleted;
  u64 all_live = 0, all_deleted = 0;
  for (const auto& place : map) {
    live.push_back(static_cast<i64>(place.live));
    deleted.push_back(static_cast<i64>(place.deleted));
    all_live += place.live;
    all_deleted += place.deleted;
  }
  write_strip(html, {fmt::format("Clusters of files from the start to the end of the volume: {}",
                                 grouped(all_live)),
                     live, most, "0", end});
  write_strip(html, {fmt::format("Clusters that deleted files had: {}", grouped(all_deleted)),
                     deleted, most, "0", end});
  html.markup("<details class=\"as-table\"><summary>As a table</summary>\n");
  HtmlTable table{html,
                  answers.id + "-map",
                  "Clusters by place",
                  {{"From byte", true}, {"Files", true}, {"Deleted files", true}}};
  for (std::size_t i = 0; i < map.size(); ++i) {
    table.count(i * bytes);
    table.count(map[i].live);
    table.count(map[i].deleted);
  }
  table.finish(0);
  html.markup("</details>\n");
}

void write_files(Html& html, const VolumeAnswers& answers) {
  html.element("h3", "Files");
  write_file_table(html, answers, "largest", "Files that take most of the disk",
                   answers.summary.largest());
  write_file_table(html, answers, "fragmented", "Files in most pieces",
                   answers.summary.fragmented());
  write_file_table(html, answers, "deleted", "Deleted files that took most of the disk",
                   answers.summary.deleted());
}

void write_volume_findings(Html& html, const VolumeAnswers& answers) {
  html.element("h3", "Findings");
  const auto& rows = answers.summary.findings();
  if (rows.empty() && answers.findings.empty()) {
    html.element("p", "Nothing was odd, skipped or missing.");
    return;
  }
  HtmlTable table{html,
                  answers.id + "-findings",
                  "What was odd, damaged or missing, by kind",
                  {{"Code"}, {"Severity"}, {"Number", true}, {"The first"}}};
  for (const auto& one : answers.findings.all()) {
    if (rows.contains(std::string{one.code.view()})) continue;
    table.text(one.code.view());
    table.text(to_string(one.severity));
    table.count(one.count);
    table.text(one.first_offset ? fmt::format("{:#x}: {}", *one.first_offset, one.text) : one.text);
  }
  for (const auto& [code, sums] : rows) {
    table.text(code);
    table.text(sums.warning ? "warning" : "info");
    table.count(sums.count);
    table.text(fmt::format("{}: {}", sums.first_path, sums.first_text));
  }
  table.finish(0);
}

}  // namespace coldtrace::cli
