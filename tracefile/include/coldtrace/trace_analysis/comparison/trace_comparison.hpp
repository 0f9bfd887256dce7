#pragma once

#include "coldtrace/trace_analysis/comparison/trace_tally.hpp"
#include "coldtrace/trace_analysis/records/row_order.hpp"

namespace coldtrace::trace_analysis {

// What counts as a difference, and in which order differences come.
struct ComparisonOptions {
  bool by_rate = false;  // events per second decide, not their number
  u32 threshold = 0;     // percent of what the first trace has: up to this much is not a difference
  RowOrder order = RowOrder::time;  // of pairs
};

// What became of a kind of events.
enum class Change : u8 { appeared, disappeared, changed };

[[nodiscard]] std::string_view to_string(Change change);

// A kind of events whose numbers differ between the traces.
struct KindDifference {
  Change change;
  KindTally kind;     // with the names of either trace
  u64 before, after;  // events
};

// A task in both traces whose mean duration differs.
struct PairDifference {
  PairTally before, after;
};

// How two traces differ.
struct TraceComparison {
  // Disappeared, appeared, then changed; within each, the largest difference first.
  std::vector<KindDifference> kinds;
  // The largest difference of the mean first, or of the number of pairs.
  std::vector<PairDifference> pairs;
  u64 same_kinds = 0;
  u64 same_pairs = 0;

  [[nodiscard]] bool same() const { return kinds.empty() && pairs.empty(); }
};

// `a` is the first trace: what it lacks has appeared.
[[nodiscard]] TraceComparison compare(const TraceTally& a, const TraceTally& b,
                                      const ComparisonOptions& options);

// Events per second, in thousandths; nothing if no time passed.
[[nodiscard]] std::optional<u64> rate_of(u64 events, const TraceTally& tally);

}  // namespace coldtrace::trace_analysis
