#include "coldtrace/where/where_value.hpp"

#include <limits>

#include <catch2/catch.hpp>

#include "coldtrace/where/where_expression.hpp"

using namespace coldtrace;
using namespace coldtrace::where;

namespace {

// Knows every name, as a number.
struct AnyNumber final : WhereVocabulary {
  core::Expected<NamedMember, std::string> find(std::string_view,
                                                std::vector<std::string> parts) const override {
    NamedMember member{.member = 0, .path = std::move(parts), .types = {}};
    member.types.number = true;
    return member;
  }
};

}  // namespace

// Source: docs/languages/where.md, "Literals".
TEST_CASE("numbers of expressions have bases, sizes and durations") {
  using Type = Literal::Type;
  struct Row {
    const char* text;
    Type type;
    Number value;
  };
  const auto row = GENERATE(values<Row>({
      {"12", Type::number, Number::of(u64{12})},
      {"-0x1f", Type::number, Number::of(i64{-31})},
      {"0xffffffffffffffff", Type::number, Number::of(~u64{0})},
      {"1.5e3", Type::number, Number::of(1500.0)},
      {"4KiB", Type::number, Number::of(u64{4096})},
      {"1.5ms", Type::duration, Number::of(u64{15'000})},
      {"2h", Type::duration, Number::of(u64{72'000'000'000})},
  }));
  CAPTURE(row.text);
  const auto literal = parse_number_literal(row.text);
  REQUIRE(literal);
  CHECK(literal->type == row.type);
  CHECK(compare(literal->number, row.value) == std::partial_ordering::equivalent);
}

TEST_CASE("what is not a number of an expression is none") {
  const auto* const text = GENERATE("", "-", "0x", "12q", "0x10000000000000000", "KiB");
  CAPTURE(text);
  CHECK_FALSE(parse_number_literal(text));
}

TEST_CASE("numbers compare by value, whatever their types") {
  CHECK(compare(Number::of(i64{-1}), Number::of(~u64{0})) == std::partial_ordering::less);
  CHECK(compare(Number::of(~u64{0}), Number::of(18446744073709551616.0)) ==
        std::partial_ordering::less);
  CHECK(compare(Number::of(u64{3}), Number::of(3.0)) == std::partial_ordering::equivalent);
  const auto nan = Number::of(std::numeric_limits<double>::quiet_NaN());
  CHECK(compare(nan, nan) == std::partial_ordering::unordered);
}

TEST_CASE("an expression is true by the truth of its comparisons, as far as it is known") {
  const auto parsed = parse_where("a == 1 and not (b == 2 or c == 3)", AnyNumber{});
  REQUIRE(parsed);
  REQUIRE(parsed->tests.size() == 3);
  struct Row {
    Truth a, b, c, whole;
  };
  const auto row = GENERATE(values<Row>({
      {Truth::yes, Truth::no, Truth::no, Truth::yes},
      {Truth::yes, Truth::yes, Truth::unknown, Truth::no},
      {Truth::no, Truth::unknown, Truth::unknown, Truth::no},
      {Truth::yes, Truth::no, Truth::unknown, Truth::unknown},
  }));
  const std::array known{row.a, row.b, row.c};
  CHECK(parsed->evaluate([&](std::size_t test) { return known[test]; }) == row.whole);
}
