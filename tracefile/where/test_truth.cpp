#include "tracefile/where/test_truth.hpp"

#include "coldtrace/where/where_matches.hpp"

namespace coldtrace::tracefile {

bool is_absent(const Subject& subject) {
  return !subject.number && !subject.boolean && !subject.time && !subject.guid && !subject.text;
}

Truth truth_of(const WhereTest& test, const Subject& subject, std::optional<core::FileTime> start) {
  if (is_absent(subject)) return Truth::no;
  where::WhereMatches matches;
  matches.add(match(test, subject, start));
  return to_truth(matches.meet(test));
}

}  // namespace coldtrace::tracefile
