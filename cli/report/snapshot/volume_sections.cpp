#include "cli/report/snapshot/volume_sections.hpp"

#include <algorithm>

#include "cli/report/page/charts.hpp"
#include "cli/report/page/html_table.hpp"
#include "coldtrace/core/checked.hpp"

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
  std::vector<HtmlTable::Column> columns{
      {"Path"}, {"On disk", true}, {"Size", true}, {"Extents", true}, {"Modified"}};
  if (answers.cluster_size == 0) columns.erase(columns.begin() + 1);
  HtmlTable table{html, fmt::format("{}-{}", answers.id, name), caption, std::move(columns)};
  for (const auto& file : files) {
    table.text(file.path.empty() ? "(without a name)" : file.path);
    if (answers.cluster_size != 0) table.bytes(file.on_disk);
    table.bytes_or_nothing(file.size);
    table.count(file.extents);
    table.word(file.modified ? core::to_string(*file.modified).substr(0, 19) : "-");
  }
  table.finish(0);
}

// Of damaged volumes files have more clusters than there are.
i64 drawn(u64 clusters) {
  return static_cast<i64>(std::min(clusters, ~u64{0} >> 1U));
}

void write_map_strip(Html& html, const VolumeAnswers& answers, std::string_view what,
                     const std::vector<i64>& clusters) {
  const auto most = static_cast<i64>(answers.summary.clusters_of_place());
  u64 all = 0;
  for (const auto one : clusters) all = core::saturating_add(all, static_cast<u64>(one));
  write_strip(html, {fmt::format("{}: {}", what, grouped(all)), clusters, most, "0",
                     short_bytes(answers.summary.clusters() * answers.cluster_size)});
}

void write_use_strips(Html& html, const VolumeAnswers& answers) {
  std::vector<i64> free, unlisted;
  u64 contradicted = 0, unknown = 0;
  for (const auto& place : answers.use) {
    free.push_back(static_cast<i64>(place.free));
    unlisted.push_back(static_cast<i64>(place.unlisted));
    contradicted += place.contradicted;
    unknown += place.unknown;
  }
  write_map_strip(html, answers, "Free clusters, according to $Bitmap", free);
  write_map_strip(html, answers, "Used clusters of no listed file", unlisted);
  if (contradicted > 0)
    html.element(
        "p", fmt::format("{} free according to $Bitmap, but a file that is not deleted has them.",
                         counted(contradicted, "cluster is", "clusters are")));
  if (unknown > 0)
    html.element("p", fmt::format("For {}, $Bitmap does not say whether they are free: it ends "
                                  "before them, or cannot be read.",
                                  counted(unknown, "cluster", "clusters")));
}

std::vector<HtmlTable::Column> finding_columns() {
  return {{"Code"}, {"Severity"}, {"Number", true}, {"First"}};
}

void write_finding(HtmlTable& table, const ShownFinding& one) {
  table.text(one.code);
  table.text(one.severity);
  table.count(one.count);
  table.text(one.first_offset ? fmt::format("{:#x}: {}", *one.first_offset, one.text) : one.text);
}

}  // namespace

void append_findings(const core::Findings& findings, std::vector<ShownFinding>& shown) {
  for (const auto& one : findings.all())
    shown.push_back({std::string{one.code.view()}, std::string{to_string(one.severity)}, one.count,
                     one.first_offset, one.text});
}

void write_states(Html& html, const VolumeAnswers& answers) {
  const bool sized = answers.cluster_size != 0;
  std::vector<HtmlTable::Column> columns{{"State"}, {"Names", true}};
  if (sized) columns.push_back({"Bytes", true});
  HtmlTable table{html, answers.id + "-states",
                  sized ? "Names by how they were found, and the space that their files take; a "
                          "file with several names counts once"
                        : "Names by how they were found",
                  std::move(columns)};
  for (std::size_t i = 0; i < ntfs::state_count; ++i) {
    const auto& sums = answers.summary.states()[i];
    if (sums.names == 0) continue;
    table.text(to_string(static_cast<State>(i)));
    table.count(sums.names);
    if (sized) table.bytes(sums.bytes);
  }
  table.finish(0);
}

void write_sizes(Html& html, const VolumeAnswers& answers) {
  const auto& directories = answers.summary.directories();
  if (directories[0].bytes == 0 || answers.cluster_size == 0) return;
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
                  "Space that directories take, with everything below them",
                  {{"Directory"}, {"Bytes", true}, {"Share", true}, {"Files", true}}};
  for (const auto number : std::span{order}.first(shown)) {
    const auto& one = directories[number];
    table.text(path_of(directories, number));
    table.bytes(one.bytes);
    table.share(drawn(one.bytes), drawn(directories[0].bytes));
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
  html.element("h3", "Location on the volume");
  const auto bytes = answers.summary.clusters_of_place() * answers.cluster_size;
  std::vector<i64> live, deleted;
  for (const auto& place : map) {
    live.push_back(drawn(place.live));
    deleted.push_back(drawn(place.deleted));
  }
  write_map_strip(html, answers, "Clusters of files from the start to the end of the volume", live);
  write_map_strip(html, answers, "Clusters that deleted files had", deleted);
  if (!answers.use.empty()) write_use_strips(html, answers);
  html.markup("<details class=\"as-table\"><summary>As a table</summary>\n");
  std::vector<HtmlTable::Column> columns{
      {"From byte", true}, {"Files", true}, {"Deleted files", true}};
  if (!answers.use.empty())
    for (const auto* title : {"Free", "Used", "Used, of no file"}) columns.push_back({title, true});
  HtmlTable table{html, answers.id + "-map", "Clusters by location", std::move(columns)};
  for (std::size_t i = 0; i < map.size(); ++i) {
    table.count(i * bytes);
    table.count(map[i].live);
    table.count(map[i].deleted);
    if (answers.use.empty()) continue;
    table.count(answers.use[i].free);
    table.count(answers.use[i].used);
    table.count(answers.use[i].unlisted);
  }
  table.finish(0);
  html.markup("</details>\n");
}

void write_files(Html& html, const VolumeAnswers& answers) {
  html.element("h3", "Files");
  const bool sized = answers.cluster_size != 0;
  write_file_table(html, answers, "largest",
                   sized ? "Files that take the most space" : "Files with the most clusters",
                   answers.summary.largest());
  write_file_table(html, answers, "fragmented", "Files with the most fragments",
                   answers.summary.fragmented());
  write_file_table(
      html, answers, "deleted",
      sized ? "Deleted files that took the most space" : "Deleted files that had the most clusters",
      answers.summary.deleted());
}

void write_volume_findings(Html& html, const VolumeAnswers& answers) {
  html.element("h3", "Findings");
  const auto& rows = answers.summary.findings();
  if (rows.empty() && answers.findings.empty()) {
    html.element("p", "Nothing was odd, skipped or missing.");
    return;
  }
  HtmlTable table{html, answers.id + "-findings", "What was odd, damaged or missing, by kind",
                  finding_columns()};
  for (const auto& one : answers.findings)
    if (!rows.contains(one.code)) write_finding(table, one);
  for (const auto& [code, sums] : rows) {
    table.text(code);
    table.text(sums.warning ? "warning" : "info");
    table.count(sums.count);
    table.text(fmt::format("{}: {}", sums.first_path, sums.first_text));
  }
  table.finish(answers.summary.kinds_left_out());
}

void write_findings_table(Html& html, std::string_view id,
                          const std::vector<ShownFinding>& findings) {
  HtmlTable table{html, id, "What was odd, damaged or missing, by kind", finding_columns()};
  for (const auto& one : findings) write_finding(table, one);
  table.finish(0);
}

}  // namespace coldtrace::cli
