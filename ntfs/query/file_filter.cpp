#include "coldtrace/ntfs_query/file_filter.hpp"

#include <algorithm>

#include "coldtrace/where/where_matches.hpp"

namespace coldtrace::ntfs {
namespace {

bool is_true(const where::WhereTest& test, FileValues& values) {
  where::WhereMatches matches;
  values.each(static_cast<FileMember>(test.member), [&](const where::Subject& subject) {
    matches.add(where::match(test, subject, std::nullopt));
  });
  return matches.any() && matches.meet(test);
}

}  // namespace

bool wants(const where::WhereExpression& expression, FileValues& values) {
  const auto truth_of = [&](std::size_t number) {
    return is_true(expression.tests[number], values) ? where::Truth::yes : where::Truth::no;
  };
  return expression.evaluate(truth_of) == where::Truth::yes;
}

bool is_of_zone_ids(FileMember member) {
  return member >= FileMember::zone && member <= FileMember::zone_resident;
}

bool asks_zone_ids(const where::WhereExpression& expression) {
  return std::ranges::any_of(expression.tests, [](const where::WhereTest& test) {
    return is_of_zone_ids(static_cast<FileMember>(test.member));
  });
}

bool is_of_deletion(FileMember member) {
  return member == FileMember::deleted_time || member == FileMember::deleted_usn;
}

bool asks_deletions(const where::WhereExpression& expression) {
  return std::ranges::any_of(expression.tests, [](const where::WhereTest& test) {
    return is_of_deletion(static_cast<FileMember>(test.member));
  });
}

}  // namespace coldtrace::ntfs
