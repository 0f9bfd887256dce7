#include "tracefile/where/test_truth.hpp"

namespace coldtrace::tracefile {

bool is_absent(const Subject& subject) {
  return !subject.number && !subject.boolean && !subject.time && !subject.guid && !subject.text;
}

Truth truth_of(const WhereTest& test, const Subject& subject, std::optional<core::FileTime> start) {
  if (is_absent(subject)) return Truth::no;
  return to_truth((match(test, subject, start) == WhereMatch::yes) != test.turned());
}

}  // namespace coldtrace::tracefile
