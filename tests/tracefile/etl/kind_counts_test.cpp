#include "coldtrace/tracefile/etl/kind_counts.hpp"

#include <catch2/catch.hpp>

namespace coldtrace::tracefile {
namespace {

KindCount counted(Undecoded undecoded, const std::vector<Decoded>& events) {
  KindCount count{};
  count.kind.undecoded = undecoded;
  for (const auto decoded : events) ++count.events[static_cast<std::size_t>(decoded)];
  return count;
}

}  // namespace

TEST_CASE("the reason of a kind is that of its schema, or of the events that fit it least") {
  struct Row {
    Undecoded undecoded;
    std::vector<Decoded> events;
    const char* reason;
  };
  const auto row = GENERATE(values<Row>({
      {Undecoded::none, {Decoded::exact}, ""},
      {Undecoded::none, {}, ""},
      {Undecoded::none, {Decoded::exact, Decoded::trailing}, "longer_than_schema"},
      {Undecoded::none, {Decoded::exact, Decoded::partial}, "shorter_than_schema"},
      {Undecoded::none, {Decoded::trailing, Decoded::partial}, "shorter_than_schema"},
      {Undecoded::no_schema, {Decoded::raw}, "no_schema"},
      {Undecoded::header_only, {Decoded::raw}, "header_only"},
  }));
  CHECK(counted(row.undecoded, row.events).undecoded_reason() == row.reason);
}

TEST_CASE("each way to be decoded has a reason of its own") {
  const auto count = counted(Undecoded::unknown_version, {Decoded::raw});
  CHECK(count.undecoded_reason(Decoded::trailing) == "longer_than_schema");
  CHECK(count.undecoded_reason(Decoded::partial) == "shorter_than_schema");
  CHECK(count.undecoded_reason(Decoded::raw) == "unknown_version");
}

}  // namespace coldtrace::tracefile
