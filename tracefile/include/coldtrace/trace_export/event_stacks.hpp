#pragma once

#include <deque>
#include <optional>
#include <set>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/processors/running_stacks.hpp"
#include "coldtrace/trace_analysis/records/observation.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::trace_export {

// Which code logged the selected events: their number by call path, or the sum of one of their
// fields. The sums of the tree count that, not ticks.
class EventStacks final : public trace_analysis::Analysis, public trace_analysis::EventWitness {
 public:
  // All must outlive it. Without a field each event counts as one.
  EventStacks(core::Borrowed<tracefile::AnyTrace> trace,
              core::Borrowed<tracefile::EventSelection> selection,
              core::Borrowed<std::optional<std::string>> field, trace_analysis::CodeNames& code);
  EventStacks(const EventStacks&) = delete;
  EventStacks& operator=(const EventStacks&) = delete;

  [[nodiscard]] const trace_analysis::CallTree& tree() const { return tree_; }
  [[nodiscard]] const trace_analysis::StackJoin& stacks() const { return join_; }
  [[nodiscard]] core::NoMatch unmatched() const { return selector_.unmatched(); }
  [[nodiscard]] u64 without_field() const {
    return without_field_;
  }  // events that have no such number

  void on_event(const tracefile::Event& event, trace_analysis::Index thread) override;
  void begin(const trace_analysis::Observed& observed) override {
    population_ = &observed.population;
  }
  void on_stack(const trace_analysis::StackWalk& record) override { join_.add(record); }
  void finish(const trace_analysis::Observed& observed) override;

 private:
  struct Pending {
    i64 time;
    trace_analysis::Index thread;
    i64 weight;
    trace_analysis::StackJoin::Slot slot;
  };

  std::optional<i64> weight_of(const tracefile::Event& event);
  void take_oldest();

  tracefile::EventSelector selector_;
  tracefile::EventDecoder decoder_;
  const std::optional<std::string>& field_;
  trace_analysis::CodeNames& code_;
  trace_analysis::StackJoin join_;
  trace_analysis::CallTree tree_;
  std::deque<Pending> pending_;
  std::vector<trace_analysis::Frame> path_;
  const trace_analysis::Population* population_ = nullptr;
  u64 without_field_ = 0;
};

}  // namespace coldtrace::trace_export
