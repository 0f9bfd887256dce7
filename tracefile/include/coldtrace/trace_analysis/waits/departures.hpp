#pragma once

#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// When each thread left its processor last, and which event says so. To be told of a switch behind
// the Turns, whose sink asks for what was before the turn that ends with it.
class Departures {
 public:
  // In the order of time.
  void on_switch(const ContextSwitch& record);

  // Nothing of a thread that was not seen to leave.
  [[nodiscard]] std::optional<Moment> of(Index thread) const;
  // From which a turn came back; it must have a time for that.
  [[nodiscard]] Moment before(const Turn& turn) const;

 private:
  std::vector<std::optional<Moment>> last_;  // by thread
};

}  // namespace coldtrace::trace_analysis
