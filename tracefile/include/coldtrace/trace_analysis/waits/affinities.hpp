#pragma once

#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/records/records.hpp"

namespace coldtrace::trace_analysis {

// Which processors threads may use over time, a bit for each of the first group.
class Affinities {
 public:
  // From that time on; nothing if the trace does not say it. In order of time.
  void set(Index thread, i64 time, std::optional<u64> processors);

  // Those that it may use all the time from one time to another. What is stated first was so
  // before.
  [[nodiscard]] std::optional<u64> find(Index thread, i64 from, i64 to) const;

 private:
  struct Change {
    i64 time;
    std::optional<u64> processors;
  };
  // Per thread; of older changes, only what they have in common is known.
  static constexpr std::size_t most_changes = 16;

  std::vector<std::vector<Change>> changes_;  // by thread
};

}  // namespace coldtrace::trace_analysis
