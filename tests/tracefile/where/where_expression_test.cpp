#include "coldtrace/tracefile/where/where_expression.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/where/event_filter.hpp"
#include "tests/tracefile/etl/trace_test.hpp"

namespace coldtrace::tracefile {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse_where(text);
  return parsed ? "" : to_string(parsed.error());
}

WhereMatch matches(std::string_view text, const Subject& subject) {
  const auto parsed = parse_where(text);
  REQUIRE(parsed);
  return match(parsed->tests[0], subject, core::FileTime{1'000'000'000});
}

bool is(std::string_view text, const Subject& subject) {
  return matches(text, subject) == WhereMatch::yes;
}

// Counts how often a schema is looked for.
class CountingSource final : public SchemaSource {
 public:
  std::shared_ptr<const EventSchema> find(const SchemaKey&) const override {
    ++asked;
    return nullptr;
  }
  std::string_view find_provider_name(const core::Guid&) const override { return {}; }
  mutable u64 asked = 0;
};

}  // namespace

TEST_CASE("what is wrong with an expression has a place") {
  const auto [text, error] = GENERATE(table<std::string, std::string>({
      {"", "1:1: expected a comparison, 'not', 'exists' or '('"},
      {"pid", "1:4: expected '==', '!=', '<', '<=', '>', '>=', '&', 'in', 'like' or 'matches'"},
      {"pid ==", "1:7: expected a number, text in quotes, a {GUID}, a time, 'true' or 'false'"},
      {"pid == 4 or\n  tid = 5",
       "2:7: expected '==', '!=', '<', '<=', '>', '>=', '&', 'in', 'like' or 'matches'"},
      {"pid == 4 tid", "1:10: expected 'and', 'or' or the end"},
      {"(pid == 4", "1:10: expected 'and', 'or' or ')'"},
      {"pid == \"a\"", "1:8: 'pid' is a number"},
      {"pid == 5ms", "1:8: 'pid' is a number"},
      {"time > 4", "1:8: 'time' is a time"},
      {"time > \"soon\"", "1:8: only numbers, times and durations can be ordered"},
      {"activity like \"a*\"", "1:15: 'activity' is a GUID, not text"},
      {"process == true", "1:12: 'process' is text"},
      {"pid == 4KB",
       "1:8: '4KB' is not a number of 64 bits, size or duration; units are B, KiB, MiB, "
       "GiB, TiB and ns, us, ms, s, min, h, d"},
      {"X == 18446744073709551616",
       "1:6: '18446744073709551616' is not a number of 64 bits, size or duration; units are B, "
       "KiB, "
       "MiB, GiB, TiB and ns, us, ms, s, min, h, d"},
      {"X == {12}", "1:6: '{12}' is not a GUID"},
      {"time < 2024-13-01",
       "1:8: '2024-13-01' is an invalid time; expected one like "
       "2024-02-29T12:34:56Z"},
      {"X matches \"(\"", "1:11: regular expression: missing ): ("},
      {"X in 5..3", "1:9: the range ends before it begins"},
      {"time in (5s..1s)", "1:14: the range ends before it begins"},
      {"extended.relatd_activity == 1",
       "1:1: no member 'extended.relatd_activity'; did you mean 'extended.related_activity'?"},
      {"extended.related_activity == 1", "1:30: 'extended.related_activity' is a GUID or text"},
      {"extended.sid_1x exists", "1:1: no member 'extended.sid_1x'; did you mean 'extended.sid'?"},
      {"X in 5", "1:7: expected '..'"},
      {"X in (1..\"a\")", "1:10: the ends of a range must be two numbers, times or durations"},
      {"X in (1, 2", "1:11: expected ',' or ')'"},
      {"X & 1.5", "1:5: '&' needs an integer"},
      {"header.tsk == 1", "1:1: no member 'header.tsk'; did you mean 'header.task'?"},
      {"pid.x == 1", "1:1: no member 'pid.x'; did you mean 'pid'?"},
      {"payload == 1", "1:12: 'payload' is text"},
      {"names == 1", "1:10: 'names' is an object; its members have values"},
      {"names.tsk == 1", "1:1: no member 'names.tsk'; did you mean 'names.task'?"},
      {"trace_control.stated == 1", "1:25: 'trace_control.stated' is true or false"},
      {"fields == 1", "1:11: 'fields' is an object; its members have values"},
      {"X == \"abc and pid == 4", "1:6: the text has no closing \""},
      {"pid == 4 and X in ('a', 'b)", "1:25: the text has no closing '"},
      {"fields.\"ab == 1", "1:8: the text has no closing \""},
      {"X like \"a\"\"", "1:8: the text has no closing \""},
      {"exists", "1:7: expected a member or a field"},
      {"pid == 1 and", "1:13: expected a comparison, 'not', 'exists' or '('"},
      {"pid == 1 or (", "1:14: expected a comparison, 'not', 'exists' or '('"},
      {"not", "1:4: expected a comparison, 'not', 'exists' or '('"},
  }));
  CAPTURE(text);
  CHECK(error_of(text) == error);
}

TEST_CASE("expressions are bounded in length, depth and number of comparisons") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "pid == 1" + std::string(depth, ')');
  };
  CHECK(error_of(nested(64)).empty());
  CHECK(error_of(nested(65)) == "1:65: parentheses and 'not' nested more than 64 deep");
  CHECK(error_of(nested(20'000)) == "1:65: parentheses and 'not' nested more than 64 deep");
  std::string nots;
  for (int i = 0; i < 65; ++i) nots += "not ";
  CHECK(
      error_of(nots + "pid == 1").starts_with("1:257: parentheses and 'not' nested more than 64"));
  std::string chain = "pid == 1";
  for (int i = 1; i < 256; ++i) chain += " or pid == 1";
  CHECK(error_of(chain).empty());
  CHECK(error_of(chain + " or pid == 1").ends_with("more than 256 comparisons"));
  CHECK(error_of(std::string(65'537, ' ')) == "1:1: the expression is longer than 65536 bytes");
}

TEST_CASE("numbers compare by value whatever their types") {
  const Subject most{.number = Number::of(~u64{0})};
  const Subject minus_one{.number = Number::of(i64{-1})};
  const Subject least{.number = Number::of(std::numeric_limits<i64>::min())};
  const Subject half{.number = Number::of(0.5)};
  const Subject nan{.number = Number::of(std::nan(""))};
  CHECK(is("X == 18446744073709551615", most));
  CHECK(is("X == 0xffffffffffffffff", most));
  CHECK_FALSE(is("X == -1", most));
  CHECK_FALSE(is("X == 18446744073709551616.0", most));  // a double holds that, not one less
  CHECK(is("X < 18446744073709551616.0", most));
  CHECK(is("X < 0", minus_one));
  CHECK(is("X & 0x8000000000000000", minus_one));
  CHECK(is("X == -9223372036854775808", least));
  CHECK(is("X > 0", half));
  CHECK(is("X in 0..1", half));
  CHECK_FALSE(is("X in (0, 1)", half));
  for (const auto* const relation : {"==", "<", "<=", ">", ">="})
    CHECK_FALSE(is(fmt::format("X {} 0", relation), nan));
  CHECK(is("X == 4096", {.number = parse_number_literal("4KiB")->number}));
  CHECK(is("X == 0x1B", {.number = Number::of(u64{27})}));  // no unit
  CHECK(is("X == 1536", {.number = parse_number_literal("1.5KiB")->number}));
}

TEST_CASE("times compare as UTC and from the start of the session") {
  const Subject later{.time = core::FileTime{1'000'000'000 + 15'000}};  // 1.5 ms
  CHECK(is("time == 1.5ms", later));
  CHECK(is("time == 1500us", later));
  CHECK(is("time == 1500000ns", later));
  CHECK_FALSE(is("time == 1500001ns", later));
  CHECK(is("time in 1ms..2ms", later));
  CHECK(is("time > -1d", later));
  CHECK(is("time == 1601-01-01T00:01:40.0015Z", later));
  CHECK(is("time == '1601-01-01T00:01:40.0015Z'", later));
  CHECK(matches("X == 5ms", {.number = Number::of(u64{5})}) == WhereMatch::incomparable);
}

TEST_CASE("texts compare without capitals, patterns with them") {
  const Subject path{.text = R"(C:\Windows\"x".LOG)"};
  CHECK(is(R"(X == "c:\windows\""x"".log")", path));
  CHECK(is(R"(X == 'c:\windows\"x".log')", path));
  CHECK(is(R"(X like "*windows\?x?.log")", path));
  CHECK(is(R"(X matches "\.LOG$")", path));
  CHECK_FALSE(is(R"(X matches "\.log$")", path));
  CHECK(is(R"(X matches "(?i)\.log$")", path));
  const Subject state{.number = Number::of(u64{5}), .name = "Waiting"};
  CHECK(is("X == 5", state));
  CHECK(is("X == \"waiting\"", state));
  CHECK(is("X in (1, \"Waiting\")", state));
}

TEST_CASE("a GUID compares in any spelling") {
  const Subject guid{.guid = core::parse_guid("12345678-9abc-def0-1234-56789abcdef0")};
  for (const auto* const spelled :
       {"{12345678-9ABC-def0-1234-56789abcdef0}", "'12345678-9abc-def0-1234-56789abcdef0'",
        "'{12345678-9abc-def0-1234-56789abcdef0}'", "{123456789abcdef0123456789abcdef0}",
        "\"123456789ABCDEF0123456789ABCDEF0\""})
    CHECK(is(fmt::format("provider.guid == {}", spelled), guid));
  CHECK_FALSE(is("provider.guid == {12345678-9abc-def0-1234-56789abcdef1}", guid));
}

TEST_CASE("what headers decide asks for no schema") {
  const auto source = CountingSource{};
  const NameTables names{0};
  const Clock clock{ClockType::system_time, {}, 0, {1, 1}};
  const EventContext context{source, names, clock, {}};
  Event event{.event_class = EventClass::manifest, .has_time = true, .pid = 4};
  const auto wants = [&](std::string_view text) {
    const auto where = parse_where(text);
    REQUIRE(where);
    EventFilter filter{context, *where};
    return filter.wants(event);
  };
  CHECK(wants("pid == 4 and level == 0"));
  CHECK_FALSE(wants("pid == 5 or not exists time"));
  CHECK(source.asked == 0);
  CHECK(wants("pid == 4 and not exists Field"));
  CHECK(source.asked == 1);
}

}  // namespace coldtrace::tracefile
