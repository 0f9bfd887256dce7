#include "cli/trace/analysis/services/service_text.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "cli/layout/text_table.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/histogram_text.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CallEdge;
using trace_analysis::CallSums;
using trace_analysis::PeriodSums;
using trace_analysis::ServiceSums;
using Period = std::vector<std::pair<u32, const PeriodSums*>>;  // by service

constexpr std::size_t most_branches = 200;  // of a tree

std::string duration_cell(std::optional<i64> units) {
  return units ? duration_text(*units) : "-";
}

std::string number_text(std::optional<u64> number) {
  return number ? grouped(*number) : "-";
}

template <class Row>
struct Column {
  std::string heading;
  std::size_t width;
  std::function<std::string(const Row&)> cell;
};

template <class Row>
TextTable table_of(Output& output, const std::vector<Column<Row>>& columns) {
  std::vector<TextColumn> all;
  for (const auto& column : columns) all.push_back({column.heading, column.width});
  return {output, std::move(all), "service"};
}

template <class Row>
void add_row(TextTable& table, const std::vector<Column<Row>>& columns, const Row& row,
             std::string label) {
  std::vector<std::string> cells;
  for (const auto& column : columns) cells.push_back(column.cell(row));
  table.add_cells(std::move(label), std::move(cells));
}

// Which columns are there only where they have something to tell.
struct Told {
  bool unmatched = false, untimed = false, cycles = false;

  void add(const CallSums& sums) {
    unmatched |= sums.unmatched > 0;
    untimed |= sums.untimed > 0;
    cycles |= sums.cycles.has_value();
  }
};

template <class Row>
void add_told_columns(std::vector<Column<Row>>& columns, const Told& told) {
  if (told.unmatched)
    columns.push_back({"unmatched", 9, [](const Row& row) { return number_text(row.unmatched); }});
  if (told.untimed)
    columns.push_back({"untimed", 7, [](const Row& row) { return number_text(row.untimed); }});
}

template <class Row>
void add_cycle_columns(std::vector<Column<Row>>& columns, const Told& told) {
  if (!told.cycles) return;
  columns.push_back({"cycles", 14, [](const Row& row) { return number_text(row.cycles); }});
  columns.push_back({"cycles/call", 12,
                     [](const Row& row) { return number_text(ServiceFigures::mean_cycles(row)); }});
}

void add_columns_of_cycles_in_calls(std::vector<Column<ServiceSums>>& columns, const Told& told) {
  if (!told.cycles) return;
  using Figures = ServiceFigures;
  columns.push_back({"shortest cycles", 16, [](const ServiceSums& one) {
                       return number_text(Figures::least_cycles(one));
                     }});
  for (const unsigned percent : {50U, 90U, 99U})
    columns.push_back({fmt::format("p{} cycles", percent), 12, [percent](const ServiceSums& one) {
                         return number_text(Figures::cycle_percentile(one, percent));
                       }});
  columns.push_back({"longest cycles", 15, [](const ServiceSums& one) {
                       return number_text(Figures::greatest_cycles(one));
                     }});
}

template <class Row>
void add_sum_columns(std::vector<Column<Row>>& columns, const ServiceFigures& figures) {
  columns.push_back({"inclusive", 13, [&figures](const Row& row) {
                       return duration_cell(figures.duration(row.inclusive));
                     }});
  columns.push_back({"exclusive", 13, [&figures](const Row& row) {
                       return duration_cell(figures.duration(row.exclusive));
                     }});
  columns.push_back({"on processor", 16, [&figures](const Row& row) {
                       return duration_cell(figures.duration(row.on_processor));
                     }});
  columns.push_back(
      {"mean", 12, [&figures](const Row& row) { return duration_cell(figures.mean(row)); }});
}

}  // namespace

void ServiceText::write_table(const std::vector<u32>& chosen, u64 top) {
  const auto& all = services_.services();
  const auto shown = std::min<std::size_t>(chosen.size(), top);
  Told told;
  for (std::size_t i = 0; i < shown; ++i) told.add(all[chosen[i]]);
  std::vector<Column<ServiceSums>> columns = {
      {"calls", 9, [](const ServiceSums& one) { return number_text(one.calls); }},
      {"open", 7, [](const ServiceSums& one) { return number_text(one.open); }}};
  add_told_columns(columns, told);
  add_sum_columns(columns, figures_);
  columns.push_back({"shortest", 12, [this](const ServiceSums& one) {
                       return duration_cell(figures_.least(one));
                     }});
  for (const unsigned percent : {50U, 90U, 99U})
    columns.push_back({fmt::format("p{}", percent), 12, [this, percent](const ServiceSums& one) {
                         return duration_cell(figures_.percentile(one, percent));
                       }});
  columns.push_back({"longest", 12, [this](const ServiceSums& one) {
                       return duration_cell(figures_.greatest(one));
                     }});
  add_cycle_columns(columns, told);
  add_columns_of_cycles_in_calls(columns, told);
  auto table = table_of(output_, columns);
  for (std::size_t i = 0; i < shown; ++i) add_row(table, columns, all[chosen[i]], label(chosen[i]));
  table.finish();
  if (shown < chosen.size())
    print(output_, "{}\n", counted(chosen.size() - shown, "more service", "more services"));
}

void ServiceText::write_periods(const std::vector<u32>& chosen, std::optional<u64> only, u64 top) {
  std::vector<bool> wanted(services_.services().size());
  for (const auto number : chosen) wanted[number] = true;
  std::map<u64, Period> periods;
  Told told;
  for (const auto& [key, row] : services_.totals().rows()) {
    if (!wanted[key.second] || only.value_or(key.first) != key.first) continue;
    periods[key.first].emplace_back(key.second, &row);
    told.add(row);
  }
  std::vector<Column<PeriodSums>> columns = {
      {"calls", 9, [](const PeriodSums& row) { return number_text(row.calls); }},
      {"begun before", 12, [](const PeriodSums& row) { return number_text(row.begun_before); }}};
  add_told_columns(columns, told);
  add_sum_columns(columns, figures_);
  add_cycle_columns(columns, told);
  const auto& times = figures_.times();
  for (auto& [number, rows] : periods) {
    const auto [from, to] = services_.totals().span_of(number);
    print(output_, "\nfrom {} to {}\n", from ? times.since_start(*from) : "the start",
          to ? times.since_start(*to) : "the end");
    std::ranges::stable_sort(rows, std::greater{}, [this](const auto& row) {
      return order_ == RowOrder::count ? static_cast<i64>(row.second->calls)
                                       : row.second->inclusive;
    });
    auto table = table_of(output_, columns);
    const auto shown = std::min<std::size_t>(rows.size(), top);
    for (std::size_t i = 0; i < shown; ++i)
      add_row(table, columns, *rows[i].second, label(rows[i].first));
    table.finish();
    if (shown < rows.size())
      print(output_, "{}\n", counted(rows.size() - shown, "more service", "more services"));
  }
}

// Totals are those of the edge, whatever the path; what lies on the path already ends it.
void ServiceText::write_trees(const std::vector<u32>& chosen, u64 top, u64 depth) {
  const auto shown = std::min<std::size_t>(chosen.size(), top);
  for (std::size_t i = 0; i < shown; ++i) {
    print(output_, "\n{}\n", label(chosen[i]));
    write_tree("calls", chosen[i], depth, &CallEdge::caller, &CallEdge::callee);
    write_tree("called by", chosen[i], depth, &CallEdge::callee, &CallEdge::caller);
    if (const auto& times = services_.services()[chosen[i]].times; times.count() > 0)
      print(output_, "  lasted {}\n", octaves_text(times, [this](i64 ticks) {
              return duration_text(figures_.duration(ticks));
            }));
  }
}

void ServiceText::write_tree(std::string_view title, u32 number, u64 depth, u32 CallEdge::*from,
                             u32 CallEdge::*to) {
  const auto& edges = services_.edges();
  if (std::none_of(edges.begin(), edges.end(),
                   [&](const CallEdge& edge) { return edge.*from == number; }))
    return;
  print(output_, "  {}\n", title);
  std::vector<u32> path{number};
  std::size_t room = most_branches;
  write_branches(path, depth, room, from, to);
  if (room == 0) output_.write("    more\n");
}

// Paths of a graph can be as many as its edges to the power of the depth.
void ServiceText::write_branches(std::vector<u32>& path, u64 depth, std::size_t& room,
                                 u32 CallEdge::*from, u32 CallEdge::*to) {
  if (path.size() > depth) return;
  for (const auto& edge : services_.edges()) {
    if (edge.*from != path.back()) continue;
    if (room == 0) return;
    --room;
    const auto next = edge.*to;
    const bool recursive = std::find(path.begin(), path.end(), next) != path.end();
    print(output_, "{:{}}{}  {}x {}{}\n", "", 2 * path.size() + 2, label(next), grouped(edge.calls),
          duration_cell(figures_.duration(edge.inclusive)), recursive ? "  recursive" : "");
    if (recursive) continue;
    path.push_back(next);
    write_branches(path, depth, room, from, to);
    path.pop_back();
  }
}

}  // namespace coldtrace::cli
