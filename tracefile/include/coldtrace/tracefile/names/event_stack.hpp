#pragma once

#include "coldtrace/tracefile/names/stack_table.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::tracefile {

// The frames of an event, innermost first, those that its keys stand for included: of its extended
// data, or of the event StackKeyKernel or StackKeyUser.
void find_stack(const Event& event, const StackTable& stacks, EventStack& stack);

// The frames of an event StackWalk/Stack, which are those of another event.
void read_stack_walk(const Event& event, EventStack& stack);

}  // namespace coldtrace::tracefile
