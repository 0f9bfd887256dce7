#pragma once

#include "coldtrace/tracefile/names/stack_table.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::tracefile {

// The frames of an event, innermost first, including those that its keys stand for: from its
// extended data, or from the event StackKeyKernel or StackKeyUser.
void find_stack(const Event& event, const StackTable& stacks, EventStack& stack);

// The frames of an event StackWalk/Stack, which belong to another event.
void read_stack_walk(const Event& event, EventStack& stack);

}  // namespace coldtrace::tracefile
