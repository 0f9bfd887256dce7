#pragma once

#include "tracefile/synthesis/machine_state.hpp"

namespace coldtrace::tracefile::synthesis {

struct Knot {
  std::vector<const Thread*> members;
  std::vector<const Thread*> victims;  // that wait for members
};

// The deadlocks that there are: threads of which none can go on unless another one of them does,
// and each of which waits, through others or not, for each.
std::vector<Knot> find_knots(const std::deque<Thread>& threads);

}  // namespace coldtrace::tracefile::synthesis
