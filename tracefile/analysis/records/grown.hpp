#pragma once

#include <cstddef>
#include <vector>

namespace coldtrace::trace_analysis {

// The element with this number, made if it is not there yet, with all before it. What numbers there
// are is bounded by whoever gives them out: threads, processors, files that the trace has.
template <class T>
T& grown(std::vector<T>& table, std::size_t number) {
  if (number >= table.size()) table.resize(number + 1);
  return table[number];
}

}  // namespace coldtrace::trace_analysis
