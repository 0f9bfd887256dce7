#include "coldtrace/core/file_time.hpp"

#include <cstring>
#include <ctime>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using core::FileTime;

TEST_CASE("file times print as ISO 8601 with seven digits") {
  struct Row {
    const char* why;
    u64 ticks;
    const char* text;
  };
  const auto row = GENERATE(values<Row>({
      {"the epoch", 0, "1601-01-01T00:00:00.0000000Z"},
      {"one tick", 1, "1601-01-01T00:00:00.0000001Z"},
      {"the Unix epoch", 116'444'736'000'000'000, "1970-01-01T00:00:00.0000000Z"},
      {"a leap day", 133'536'836'961'234'567, "2024-02-29T12:34:56.1234567Z"},
      {"the largest signed value", 0x7fff'ffff'ffff'ffff, "+30828-09-14T02:48:05.4775807Z"},
      {"the largest value", 0xffff'ffff'ffff'ffff, "+60056-05-28T05:36:10.9551615Z"},
  }));
  CAPTURE(row.why);
  CHECK(core::to_string(FileTime{row.ticks}) == row.text);
}

TEST_CASE("dates equal the C library's, for every year until 2500") {
  core::FileTimeFormatter formatter;
  for (i64 seconds = -11'644'473'600; seconds < 16'725'225'600; seconds += 86'400 * 13 + 4'321) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    REQUIRE(gmtime_r(&time, &parts));
    char expected[40];
    REQUIRE(std::strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.0000000Z", &parts) > 0);
    REQUIRE(formatter.format(core::file_time_from_unix(seconds)) == expected);
  }
}

TEST_CASE("a time that was written is read again") {
  for (u64 ticks = 1; ticks < 2'650'467'743'999'999'999; ticks += 9'999'999'999'999'937)
    CHECK(core::parse_file_time(core::to_string(FileTime{ticks})) == FileTime{ticks});
  for (const u64 ticks : {u64{2'650'467'744'000'000'000}, ~u64{0} / 2, ~u64{0}})
    CHECK(core::parse_file_time(core::to_string(FileTime{ticks})) == FileTime{ticks});
  CHECK(core::parse_file_time("1601-01-02") == FileTime{u64{86'400} * 10'000'000});
  CHECK(core::parse_file_time("1601-01-01T00:01") == FileTime{u64{60} * 10'000'000});
  CHECK(core::parse_file_time("1601-01-01T00:00:00.25Z") == FileTime{2'500'000});
}

TEST_CASE("what is not a time is not read as one") {
  const auto* const text =
      GENERATE("", "2024", "2024-02-30", "2023-02-29", "1600-12-31", "2024-02-29T", "2024-02-29T1",
               "2024-02-29T24:00", "2024-02-29T12:60", "2024-02-29 12:00", "2024-02-29T12:00:00.x",
               "2024-02-29T12:00Zx", "2024-02-29T12:00:60", "+9999-01-01", "+09999-01-01",
               "+60056-05-28T05:36:10.9551616Z", "+60056-05-29", "+99999-01-01", "10000-01-01",
               "-024-02-29");
  CAPTURE(text);
  CHECK_FALSE(core::parse_file_time(text));
}

}  // namespace
}  // namespace coldtrace
