#pragma once

#include "coldtrace/tracefile/where/where_expression.hpp"

namespace coldtrace::tracefile {

// Whether an event lacks what a test asks for.
bool is_absent(const Subject& subject);

constexpr Truth to_truth(bool yes) {
  return yes ? Truth::yes : Truth::no;
}

// Whether what an event has meets the test; what is absent meets none. `start` is what durations
// count from.
Truth truth_of(const WhereTest& test, const Subject& subject, std::optional<core::FileTime> start);

}  // namespace coldtrace::tracefile
