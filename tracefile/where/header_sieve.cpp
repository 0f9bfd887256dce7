#include "tracefile/where/header_sieve.hpp"

#include <algorithm>

#include "coldtrace/tracefile/etl/running_threads.hpp"
#include "tracefile/where/header_members.hpp"
#include "tracefile/where/test_truth.hpp"
#include "tracefile/where/where_members.hpp"

namespace coldtrace::tracefile {
namespace {

// Whether process or thread may yet come from names or from context switches.
bool is_told_later(WhereMember member, const Event& event) {
  if (member != WhereMember::pid && member != WhereMember::tid) return false;
  if (RunningThreads::is_switch(event) || RunningThreads::may_complete(event)) return true;
  return member == WhereMember::pid && !event.pid && event.thread_source == ThreadSource::payload;
}

}  // namespace

Truth HeaderSieve::truth(const WhereTest& test, const Event& event) const {
  const auto member = member_of(test);
  if (is_told_later(member, event)) return Truth::unknown;
  const auto subject = read_header_member(member, event);
  return subject ? truth_of(test, *subject, std::nullopt) : Truth::unknown;
}

bool HeaderSieve::lets_through(const Event& event) const {
  return where_.evaluate([&](std::size_t number) { return truth(where_.tests[number], event); }) !=
         Truth::no;
}

bool can_sift(const WhereExpression& where) {
  const auto is_of_field = [](const WhereTest& test) { return is_of_fields(member_of(test)); };
  const auto is_in_header = [](const WhereTest& test) {
    return read_header_member(member_of(test), Event{}).has_value();
  };
  return std::ranges::none_of(where.tests, is_of_field) &&
         std::ranges::any_of(where.tests, is_in_header);
}

}  // namespace coldtrace::tracefile
