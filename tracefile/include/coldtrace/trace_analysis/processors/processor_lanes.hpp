#pragma once

#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/processors/slice_lanes.hpp"
#include "coldtrace/trace_analysis/processors/time_bins.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// What each processor did, one slice after the other, for drawing: its turns. Those of idle threads
// are the gaps between slices; where the trace shows nothing is a slice of nobody.
class ProcessorLanes final : public Analysis {
 public:
  // Of a slice that is a single turn.
  struct Details {
    std::optional<ThreadState> state;  // that it was left in; nothing: the switch does not say
    std::optional<u8> wait_reason;     // of the wait that then begins
    std::optional<i64> readied;        // before the turn
    Index waker = nobody;
    bool woken_in_dpc = false;
    std::optional<i8> priority;
    Place place;  // of the switch to it
  };

  // At most this many slices are kept, joined if there are more, and details of this many turns,
  // the first ones.
  ProcessorLanes(std::size_t most_slices, std::size_t most_details);
  ProcessorLanes(const ProcessorLanes&) = delete;
  ProcessorLanes& operator=(const ProcessorLanes&) = delete;

  [[nodiscard]] const SliceLanes& lanes() const { return lanes_; }  // by processor
  [[nodiscard]] const std::vector<Details>& details() const { return details_; }
  [[nodiscard]] u64 turns() const { return turns_seen_; }
  // Turns that begin before another one of their processor ends, and are left out.
  [[nodiscard]] u64 overlapping() const { return overlapping_; }
  // Of all processors together.
  [[nodiscard]] const TimeBins& busy() const { return busy_; }

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void finish(const Observed& observed) override;

 private:
  void add(const Turn& turn);
  void push(u16 cpu, const SliceLanes::Slice& slice);
  u32 describe(const Turn& turn);

  Turns turns_;
  std::size_t most_slices_, most_details_;
  const Observed* observed_ = nullptr;
  const ContextSwitch* switch_ = nullptr;  // the current one
  SliceLanes lanes_;
  std::vector<i64> told_until_;  // by processor: how far it was reported
  std::vector<Details> details_;
  u64 turns_seen_ = 0;
  u64 overlapping_ = 0;
  TimeBins busy_;
};

}  // namespace coldtrace::trace_analysis
