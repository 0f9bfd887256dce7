#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/where/where_expression.hpp"

namespace coldtrace::where {
namespace {

using Relation = WhereTest::Relation;
using Type = Literal::Type;

WhereMatch to_match(bool yes) {
  return yes ? WhereMatch::yes : WhereMatch::no;
}

// Nothing where they are of different types.
std::optional<std::partial_ordering> order(const Subject& subject, const Literal& literal,
                                           std::optional<core::FileTime> start) {
  if (literal.type == Type::number) {
    if (!subject.number) return std::nullopt;
    return compare(*subject.number, literal.number);
  }
  if (!subject.time) return std::nullopt;
  if (literal.type == Type::duration) {
    if (!start) return std::nullopt;
    return compare(Number::of(static_cast<i64>(subject.time->ticks - start->ticks)),
                   literal.number);
  }
  if (!literal.time) return std::nullopt;
  return subject.time->ticks <=> literal.time->ticks;
}

WhereMatch equals(const Subject& subject, const Literal& literal,
                  std::optional<core::FileTime> start) {
  if (literal.type == Type::boolean) {
    if (!subject.boolean) return WhereMatch::incomparable;
    return to_match(*subject.boolean == literal.boolean);
  }
  if (literal.guid && subject.guid && *literal.guid == *subject.guid) return WhereMatch::yes;
  if (literal.type == Type::guid) return subject.guid ? WhereMatch::no : WhereMatch::incomparable;
  if (literal.type == Type::text) {
    if (literal.time && subject.time) return to_match(*literal.time == *subject.time);
    if (!subject.text && !subject.guid && subject.name.empty()) return WhereMatch::incomparable;
    return to_match(
        (subject.text && core::equal_ignoring_case(*subject.text, literal.text)) ||
        (!subject.name.empty() && core::equal_ignoring_case(subject.name, literal.text)));
  }
  const auto ordering = order(subject, literal, start);
  if (!ordering) return WhereMatch::incomparable;
  return to_match(std::is_eq(*ordering));
}

bool holds(Relation relation, std::partial_ordering ordering) {
  switch (relation) {
    case Relation::less:
      return std::is_lt(ordering);
    case Relation::at_most:
      return std::is_lteq(ordering);
    case Relation::greater:
      return std::is_gt(ordering);
    default:
      return std::is_gteq(ordering);
  }
}

WhereMatch ordered(Relation relation, const Subject& subject, const Literal& literal,
                   std::optional<core::FileTime> start) {
  const auto ordering = order(subject, literal, start);
  if (!ordering) return WhereMatch::incomparable;
  return to_match(holds(relation, *ordering));
}

WhereMatch one_of(const WhereTest& test, const Subject& subject,
                  std::optional<core::FileTime> start) {
  auto whole = WhereMatch::incomparable;
  for (const auto& [first, last] : test.choices) {
    auto one =
        last ? ordered(Relation::at_least, subject, first, start) : equals(subject, first, start);
    if (last && one == WhereMatch::yes) one = ordered(Relation::at_most, subject, *last, start);
    if (one == WhereMatch::yes) return one;
    if (one == WhereMatch::no) whole = one;
  }
  return whole;
}

template <class Matches>
WhereMatch any_text(const Subject& subject, Matches matches) {
  if (!subject.text && subject.name.empty()) return WhereMatch::incomparable;
  return to_match((subject.text && matches(*subject.text)) ||
                  (!subject.name.empty() && matches(subject.name)));
}

}  // namespace

bool WhereTest::compares_text() const {
  if (relation == Relation::like || relation == Relation::matches) return true;
  for (const auto& choice : choices)
    if (choice.first.type == Type::text) return true;
  return false;
}

WhereMatch match(const WhereTest& test, const Subject& subject,
                 std::optional<core::FileTime> start) {
  switch (test.relation) {
    case Relation::exists:
      return WhereMatch::yes;
    case Relation::equal:
    case Relation::unequal:
      return equals(subject, test.choices[0].first, start);
    case Relation::one_of:
      return one_of(test, subject, start);
    case Relation::any_bit: {
      const auto bits = subject.number ? subject.number->bits() : std::nullopt;
      if (!bits) return WhereMatch::incomparable;
      return to_match((*bits & test.choices[0].first.number.bits().value_or(0)) != 0);
    }
    case Relation::like:
      return any_text(subject, [&](std::string_view text) {
        return glob_matches(test.choices[0].first.text, text, GlobCase::insensitive);
      });
    case Relation::matches:
      return any_text(subject, [&](std::string_view text) { return test.pattern->matches(text); });
    default:
      return ordered(test.relation, subject, test.choices[0].first, start);
  }
}

}  // namespace coldtrace::where
