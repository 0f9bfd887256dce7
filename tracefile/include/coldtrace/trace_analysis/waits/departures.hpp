#pragma once

#include <optional>
#include <vector>

#include "coldtrace/trace_analysis/scheduling/turns.hpp"

namespace coldtrace::trace_analysis {

// When each thread last left its processor, and which event says so. To be told of a switch after
// the Turns, whose sink asks for what preceded the turn that the switch ends.
class Departures {
 public:
  // In order of time.
  void on_switch(const ContextSwitch& record);

  // Nothing for a thread that was not seen to leave.
  [[nodiscard]] std::optional<Moment> of(Index thread) const;
  // The departure from which a turn came back; the turn must have a time for it.
  [[nodiscard]] Moment before(const Turn& turn) const;

 private:
  std::vector<std::optional<Moment>> last_;  // by thread
};

}  // namespace coldtrace::trace_analysis
