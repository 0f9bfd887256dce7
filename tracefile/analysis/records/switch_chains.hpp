#pragma once

#include <map>
#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/records/stretch.hpp"
#include "tracefile/analysis/records/event_plans.hpp"

namespace coldtrace::trace_analysis {

// Follows the switches of each processor: the thread that one takes it from is the thread that the
// one before gave it to. Where it is not, a switch is missing, and who ran between the two is not
// known.
class SwitchChains {
 public:
  // `schemas` must outlive it.
  explicit SwitchChains(const tracefile::SchemaSource& schemas) : plans_{schemas} {}

  // Events in the order of time.
  void add(const tracefile::Event& event);

  // By processor, in order.
  const std::map<u16, std::vector<Stretch>>& broken() const { return broken_; }
  // Switches that are older than one before them on their processor.
  [[nodiscard]] u64 backward() const { return backward_; }

 private:
  struct Runner {
    std::optional<u32> tid;
    i64 since = 0;
  };

  EventPlans plans_;
  FieldValues values_;
  std::vector<Runner> runners_;  // by processor
  std::map<u16, std::vector<Stretch>> broken_;
  u64 backward_ = 0;
};

}  // namespace coldtrace::trace_analysis
