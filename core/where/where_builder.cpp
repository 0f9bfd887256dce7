#include "core/where/where_builder.hpp"

#include <algorithm>
#include <compare>

#include <fmt/format.h>

namespace coldtrace::where {
namespace {

using Relation = WhereTest::Relation;
using Type = Literal::Type;

// A text between quotes, where the quote itself is written twice.
std::string unquoted(std::string_view text) {
  const char quote = text.front();
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == quote) ++i;
  }
  return plain;
}

// The parts of a path, the first of which is a word.
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at < path.size()) {
    const bool quoted = path[at] == '"' || path[at] == '\'';
    std::size_t end = at;
    if (quoted) {
      const char quote = path[at];
      for (end = at + 1; path[end] != quote || (end + 1 < path.size() && path[end + 1] == quote);
           end += path[end] == quote ? 2U : 1U) {
      }
      ++end;
      parts.push_back(unquoted(path.substr(at, end - at)));
    } else {
      end = std::min(path.find('.', at), path.size());
      parts.emplace_back(path.substr(at, end - at));
    }
    at = end + 1;
  }
  return parts;
}

constexpr u64 last_of_day = u64{86'400} * 10'000'000 - 1;  // in ticks of core::FileTime

bool is_ordering(Relation relation) {
  return relation == Relation::less || relation == Relation::at_most ||
         relation == Relation::greater || relation == Relation::at_least;
}

// What takes part in order: a text only as a time.
std::optional<Type> ordered_type(const Literal& literal) {
  switch (literal.type) {
    case Type::number:
    case Type::duration:
    case Type::time:
      return literal.type;
    case Type::text:
      return literal.time ? std::optional{Type::time} : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Of two with the same order.
bool is_before(const Literal& one, const Literal& other) {
  if (ordered_type(one) == Type::time) return *one.time < *other.time;
  return std::is_lt(compare(one.number, other.number));
}

std::string described(WhereMemberTypes types) {
  if (types.time) return "a time";
  if (types.number && types.text) return "a number or text";
  if (types.number) return "a number";
  if (types.guid && types.text) return "a GUID or text";
  if (types.boolean) return "true or false";
  if (types.guid) return "a GUID";
  return types.text ? "text" : "an object; its members have values";
}

}  // namespace

void WhereBuilder::enter(std::string_view text) {
  if (++depth_ > WhereExpression::deepest)
    throw Error{text.data(), fmt::format("parentheses and 'not' nested more than {} deep",
                                         WhereExpression::deepest)};
}

void WhereBuilder::leave(std::string_view) {
  --depth_;
}

void WhereBuilder::negate(std::string_view text) {
  leave(text);
  WhereNode node{.kind = WhereNode::Kind::negation};
  node.children.push_back(std::move(nodes_.back()));
  nodes_.back() = std::move(node);
}

void WhereBuilder::join(WhereNode::Kind kind) {
  auto second = std::move(nodes_.back());
  nodes_.pop_back();
  auto& first = nodes_.back();
  if (first.kind != kind) {
    WhereNode node{.kind = kind};
    node.children.push_back(std::move(first));
    first = std::move(node);
  }
  first.children.push_back(std::move(second));
}

void WhereBuilder::begin_test(std::string_view path) {
  if (tests_.size() >= WhereExpression::most_tests)
    throw Error{path.data(), fmt::format("more than {} comparisons", WhereExpression::most_tests)};
  test_ = {};
  test_.shown = path;
  auto member = vocabulary_.find(path, parts_of(path));
  if (!member) throw Error{path.data(), std::move(member.error())};
  static_cast<NamedMember&>(test_) = std::move(*member);
}

void WhereBuilder::set_relation(std::string_view text) {
  using Entry = std::pair<std::string_view, Relation>;
  constexpr Entry relations[] = {{"==", Relation::equal},  {"!=", Relation::unequal},
                                 {"<", Relation::less},    {"<=", Relation::at_most},
                                 {">", Relation::greater}, {">=", Relation::at_least},
                                 {"&", Relation::any_bit}, {"in", Relation::one_of},
                                 {"like", Relation::like}, {"matches", Relation::matches}};
  const auto* const found = std::find_if(std::begin(relations), std::end(relations),
                                         [&](const Entry& entry) { return entry.first == text; });
  test_.relation = found->second;
}

void WhereBuilder::add_number(std::string_view text) {
  auto literal = parse_number_literal(text);
  if (!literal)
    throw Error{text.data(),
                fmt::format("'{}' is not a number of 64 bits, size or duration; units are "
                            "B, KiB, MiB, GiB, TiB and ns, us, ms, s, min, h, d",
                            text)};
  add(text, std::move(*literal));
}

void WhereBuilder::add_text(std::string_view text) {
  add(text, text_literal(unquoted(text)));
}

void WhereBuilder::refuse_open_text(std::string_view quote) {
  throw Error{quote.data(), fmt::format("the text has no closing {}", quote)};
}

void WhereBuilder::add_guid(std::string_view text) {
  const auto guid = parse_any_guid(text);
  if (!guid) throw Error{text.data(), fmt::format("'{}' is not a GUID", text)};
  add(text, {.type = Type::guid, .guid = guid});
}

void WhereBuilder::add_time(std::string_view text) {
  const auto time = core::parse_file_time(text);
  if (!time)
    throw Error{
        text.data(),
        fmt::format("'{}' is an invalid time; expected one like 2024-02-29T12:34:56Z", text)};
  add(text, {.type = Type::time, .time = time});
}

void WhereBuilder::add_boolean(std::string_view text) {
  add(text, {.type = Type::boolean, .boolean = text == "true"});
}

void WhereBuilder::add(std::string_view text, Literal literal) {
  check_type(text.data(), literal);
  if (test_.relation == Relation::matches) {
    auto pattern = WherePattern::compile(literal.text);
    if (!pattern) throw Error{text.data(), "regular expression: " + pattern.error()};
    test_.pattern = std::move(*pattern);
  }
  if (!in_range_) {
    test_.choices.push_back({std::move(literal), std::nullopt});
    return;
  }
  in_range_ = false;
  auto& choice = test_.choices.back();
  const auto first = ordered_type(choice.first);
  if (!first || first != ordered_type(literal))
    throw Error{text.data(), "the ends of a range must be two numbers, times or durations"};
  // A day as the end of a range is all of it.
  const bool is_day = literal.time && text.find('T') == std::string_view::npos;
  if (is_day) literal.time->ticks += std::min(last_of_day, ~u64{0} - literal.time->ticks);
  if (is_before(literal, choice.first)) throw Error{text.data(), "the range ends before it begins"};
  choice.last = std::move(literal);
}

void WhereBuilder::check_type(const char* where, const Literal& literal) const {
  const auto& types = test_.types;
  const bool is_text = test_.relation == Relation::like || test_.relation == Relation::matches;
  if (is_text && types.guid && !types.text)
    throw Error{where, fmt::format("'{}' is a GUID, not text", test_.shown)};
  if (is_ordering(test_.relation) && !ordered_type(literal))
    throw Error{where, "only numbers, times and durations can be ordered"};
  if (test_.relation == Relation::any_bit && !literal.number.bits())
    throw Error{where, "'&' needs an integer"};
  if (types.varied) return;
  bool fits = false;
  switch (literal.type) {
    case Type::number:
      fits = types.number;
      break;
    case Type::text:
      fits = types.text ||
             (!is_text && ((types.guid && literal.guid) || (types.time && literal.time)));
      break;
    case Type::guid:
      fits = types.guid;
      break;
    case Type::time:
      fits = types.time;
      break;
    case Type::duration:
      if (types.time && !types.since_start)
        throw Error{
            where,
            fmt::format("'{}' is a time, and there is no start from which a duration could count",
                        test_.shown)};
      fits = types.time;
      break;
    case Type::boolean:
      fits = types.boolean;
      break;
  }
  if (!fits) throw Error{where, fmt::format("'{}' is {}", test_.shown, described(types))};
}

void WhereBuilder::end_test(std::string_view) {
  nodes_.push_back({.kind = WhereNode::Kind::test, .test = tests_.size()});
  tests_.push_back(std::move(test_));
}

WhereExpression WhereBuilder::take() {
  return {std::move(tests_), std::move(nodes_.back())};
}

}  // namespace coldtrace::where
