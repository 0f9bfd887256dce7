#pragma once

#include <map>
#include <vector>

#include "coldtrace/tracefile/any_trace.hpp"

namespace coldtrace::trace_analysis {

// The stretches of time that events may be missing from: of each processor from its last event
// before a gap to its first one after it, and of all processors where the gap names none.
class Losses {
 public:
  Losses() = default;
  // Reads the trace once when it has gaps.
  static Losses find(const tracefile::AnyTrace& trace, const tracefile::StreamOptions& options);

  // Whether events of the processor, or of any, may be missing between two moments.
  bool on(u16 cpu, i64 from, i64 to) const;
  bool anywhere(i64 from, i64 to) const { return overlaps(all_, from, to); }

  struct Stretch {
    i64 from, to;
  };
  // In order and apart.
  const std::vector<Stretch>& all() const { return all_; }
  u64 without_time() const { return without_time_; }  // gaps whose place in time is not known

 private:
  void add_missing_buffers(const tracefile::BufferScan& scan);
  static bool overlaps(const std::vector<Stretch>& stretches, i64 from, i64 to);

  std::vector<Stretch> all_;     // of any processor
  std::vector<Stretch> shared_;  // of those that name none
  std::map<u16, std::vector<Stretch>> of_cpu_;
  u64 without_time_ = 0;
};

}  // namespace coldtrace::trace_analysis
