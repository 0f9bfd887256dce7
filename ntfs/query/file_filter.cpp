#include "coldtrace/ntfs_query/file_filter.hpp"

namespace coldtrace::ntfs {
namespace {

bool is_true(const where::WhereTest& test, FileValues& values) {
  bool present = false;
  bool matched = false;
  values.each(static_cast<FileMember>(test.member), [&](const where::Subject& subject) {
    present = true;
    matched = matched || where::match(test, subject, std::nullopt) == where::WhereMatch::yes;
  });
  return test.turned() ? present && !matched : matched;
}

}  // namespace

bool wants(const where::WhereExpression& expression, FileValues& values) {
  const auto truth_of = [&](std::size_t number) {
    return is_true(expression.tests[number], values) ? where::Truth::yes : where::Truth::no;
  };
  return expression.evaluate(truth_of) == where::Truth::yes;
}

}  // namespace coldtrace::ntfs
