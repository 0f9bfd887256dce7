#pragma once

#include <map>
#include <vector>

#include "coldtrace/trace_analysis/records/stretch.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"

namespace coldtrace::trace_analysis {

// The stretches of time in which events may be missing. For each processor, and for all if a gap
// names none, they lie
// - between its last event before a gap and its first one after it;
// - between its buffers before and after a gap whose place in time is not known;
// - before its first event, where the oldest buffers were overwritten;
// - where its clock goes back: one of the events has a time that is not its own.
class Losses {
 public:
  Losses() = default;
  // Reads the trace once.
  [[nodiscard]] static Losses find(const tracefile::AnyTrace& trace,
                                   const tracefile::StreamOptions& options);

  // Whether events of the processor, or of any, may be missing between two moments.
  [[nodiscard]] bool on(u16 cpu, i64 from, i64 to) const;
  [[nodiscard]] bool anywhere(i64 from, i64 to) const { return overlaps(all_, from, to); }

  // Whether the last switch of the processor says who runs on it at that moment. It does not if the
  // next switch is from another thread: one between the two is missing.
  [[nodiscard]] bool is_runner_known(u16 cpu, i64 time) const;
  // Whether such a switch may be missing between two moments.
  [[nodiscard]] bool misses_switches(i64 from, i64 to) const { return overlaps(broken_, from, to); }
  [[nodiscard]] u64 broken_chains() const { return broken_chains_; }  // how often

  // Switches that are older than an earlier one on their processor.
  [[nodiscard]] u64 backward_switches() const { return backward_switches_; }

  // Time of the earliest event.
  [[nodiscard]] std::optional<i64> first() const { return first_; }

  // Buffers that could be read when the trace was opened but not now.
  [[nodiscard]] u64 unread_buffers() const { return unread_buffers_; }

  using Stretch = trace_analysis::Stretch;
  // In order and disjoint.
  [[nodiscard]] const std::vector<Stretch>& all() const { return all_; }

 private:
  class Pass;
  using OfProcessors = std::map<u16, std::vector<Stretch>>;

  void add_missing_buffers(const tracefile::BufferScan& scan);
  static bool overlaps(const std::vector<Stretch>& stretches, i64 from, i64 to);

  std::vector<Stretch> all_;     // of any processor
  std::vector<Stretch> shared_;  // of gaps that name none
  OfProcessors of_cpu_;
  OfProcessors broken_of_cpu_;   // chains of switches
  std::vector<Stretch> broken_;  // of any processor
  u64 broken_chains_ = 0;
  u64 backward_switches_ = 0;
  std::optional<i64> first_;
  u64 unread_buffers_ = 0;
};

}  // namespace coldtrace::trace_analysis
