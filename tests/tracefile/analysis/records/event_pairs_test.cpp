#include "coldtrace/trace_analysis/records/event_pairs.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::trace_analysis;

TEST_CASE("a pair of events is read from its text") {
  struct Row {
    const char* why;
    const char* text;
    const char *enter_provider, *enter, *exit_provider, *exit, *key;
  };
  const auto row = GENERATE(values<Row>({
      {"names alone", "Start=Stop", "", "Start", "", "Stop", ""},
      {"a provider of each", "a!Start=b!Stop", "a", "Start", "b", "Stop", ""},
      {"a field", "a/b=c/d@Irp", "", "a/b", "", "c/d", "Irp"},
      {"the last @ is of the field", "a=b@c@d", "", "a", "", "b@c", "d"},
      {"the first = is between them", "a=b=c", "", "a", "", "b=c", ""},
  }));
  CAPTURE(row.why);
  const auto pair = parse_event_pair(row.text);
  REQUIRE(pair);
  CHECK(pair->text == row.text);
  CHECK(pair->enter.provider == row.enter_provider);
  CHECK(pair->enter.event == row.enter);
  CHECK(pair->exit.provider == row.exit_provider);
  CHECK(pair->exit.event == row.exit);
  CHECK(pair->key == row.key);
}

TEST_CASE("a text that lacks a part is not a pair of events") {
  const auto* const text =
      GENERATE("", "=", "a", "a=", "=b", "p!=b", "a=p!", "a=@f", "a=b@", "a@f");
  CAPTURE(text);
  CHECK_FALSE(parse_event_pair(text));
}
