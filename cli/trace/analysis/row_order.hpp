#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/trace_analysis/records/row_order.hpp"

namespace coldtrace::cli {

// Every format with these tables has them in that order.
using trace_analysis::RowOrder;

// --sort; `help` says what the rows are, and what is counted.
void add_sort_option(Command& command, RowOrder& order, const char* help,
                     const std::vector<std::string>& formats);
// Of a command that has another order without it.
void add_sort_option(Command& command, std::optional<RowOrder>& order, const char* help,
                     const std::vector<std::string>& formats);

// The rows of a map.
template <class Map, class Of>
std::vector<const typename Map::value_type*> most_first(const Map& map, Of of) {
  std::vector<const typename Map::value_type*> rows;
  for (const auto& row : map) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater{}, [&](const auto* row) { return of(row->second); });
  return rows;
}

// Indexes of the elements for which `has` is true.
template <class T, class Has, class Of>
std::vector<u32> most_first(const std::vector<T>& all, Has has, Of of) {
  std::vector<u32> numbers;
  for (u32 i = 0; i < all.size(); ++i)
    if (has(all[i])) numbers.push_back(i);
  std::ranges::stable_sort(numbers, std::greater{}, [&](u32 i) { return of(all[i]); });
  return numbers;
}

}  // namespace coldtrace::cli
