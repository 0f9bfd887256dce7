#include "cli/report/page/charts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "cli/report/page/html_table.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

constexpr int height = 64;
constexpr std::size_t table_rows = 24;

double part(i64 value, i64 most) {
  return most <= 0 ? 0 : std::clamp(static_cast<double>(value) / static_cast<double>(most), 0., 1.);
}

// The same times in few rows.
void write_table(Html& html, const AreaChart& chart) {
  html.markup("<details class=\"as-table\"><summary>As a table</summary>\n");
  HtmlTable table{
      html, chart.id, chart.title, {{"From", true}, {chart.table_title, true}, {"Share", true}}};
  const auto joined = (chart.steps.size() + table_rows - 1) / table_rows;
  for (std::size_t i = 0; i < chart.steps.size(); i += joined) {
    i64 sum = 0, whole = 0;
    const auto end = std::min(chart.steps.size(), i + joined);
    for (auto at = i; at < end; ++at) {
      trace_analysis::add_ticks(sum, chart.steps[at].value);
      trace_analysis::add_ticks(whole, chart.steps[at].most);
    }
    table.moment(chart.steps[i].begin);
    table.time(sum);
    table.share(sum, whole);
  }
  table.finish(0);
  html.markup("</details>\n");
}

}  // namespace

void write_strip(Html& html, const Strip& strip) {
  html.markup("<figure class=\"chart\"")
      .markup(strip.attributes)
      .markup("><figcaption>")
      .text(strip.title)
      .markup("</figcaption>\n");
  html.markup(fmt::format("<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
                          "aria-label=\"",
                          strip.values.size(), height))
      .text(strip.title)
      .markup(fmt::format("; the table has its figures\"><path class=\"area\" d=\"M0 {}", height));
  for (const auto value : strip.values) {
    const auto top = height - (height - 2) * part(value, strip.most) - (value > 0 ? 1 : 0);
    html.markup(fmt::format("V{:.1f}h1", top));
  }
  html.markup(fmt::format("V{}Z\"/></svg>\n<p class=\"axis\"><span>", height))
      .text(strip.from)
      .markup("</span><span>")
      .text(strip.to)
      .markup("</span></p></figure>\n");
}

void write_area_chart(Html& html, const AreaChart& chart) {
  if (chart.steps.empty()) return;
  constexpr i64 whole = 10'000;
  std::vector<i64> shares;
  for (const auto& step : chart.steps)
    shares.push_back(
        step.value <= 0 ? 0 : std::max<i64>(1, std::llround(whole * part(step.value, step.most))));
  write_strip(html, {chart.title, std::move(shares), whole, "0", short_time(chart.end)});
  write_table(html, chart);
}

std::string histogram_drawing(const std::vector<trace_analysis::Histogram::Step>& steps,
                              std::string_view label) {
  if (steps.empty()) return {};
  std::map<int, u64> octaves;
  u64 most = 0;
  for (const auto& step : steps) {
    // Up to a power of two, and above its half.
    const auto octave = step.greatest == 0 ? 0 : std::bit_width(step.greatest - 1) + 1;
    auto& count = octaves[static_cast<int>(octave)];
    count += step.count;
    most = std::max(most, count);
  }
  const auto first = octaves.begin()->first, last = octaves.rbegin()->first;
  Html html;
  html.markup(fmt::format("<svg class=\"bars\" width=\"{0}\" height=\"18\" viewBox=\"0 0 {0} 18\" "
                          "role=\"img\" aria-label=\"",
                          (last - first + 1) * 5))
      .text(label)
      .markup("\">");
  for (const auto& [octave, count] : octaves) {
    const auto bar = std::max(1., 16 * static_cast<double>(count) / static_cast<double>(most));
    html.markup(fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"4\" height=\"{:.1f}\"/>",
                            (octave - first) * 5, 17 - bar, bar));
  }
  return html.markup("</svg>").take();
}

}  // namespace coldtrace::cli
