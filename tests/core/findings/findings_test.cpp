#include "coldtrace/core/findings.hpp"

#include <utility>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

template <class Given>
concept GivesAll = requires(Given given) {
  std::forward<Given>(given).all();
};
static_assert(GivesAll<core::Findings&>);
static_assert(GivesAll<const core::Findings&>);
static_assert(!GivesAll<core::Findings>);

TEST_CASE("findings of one code are counted and keep the first place and sentence") {
  core::Findings findings;
  findings.warning("gap", 0x10, "lost {} bytes", 3);
  findings.info("hole", std::nullopt, "normal");
  findings.warning("gap", 0x20, "lost {} bytes", 5);
  REQUIRE(findings.all().size() == 2);
  CHECK(findings.all()[0].count == 2);
  CHECK(findings.all()[0].first_offset == 0x10);
  CHECK(findings.all()[0].text == "lost 3 bytes");
  CHECK(findings.count("gap") == 2);
  CHECK(findings.count("other") == 0);
}

TEST_CASE("an error's offset stands beside the sentence alone") {
  core::Findings findings;
  findings.warning("torn", core::ParseError{core::Fault::bad_value, 0x30, "head", "size", 1, 2});
  findings.warning("unread", core::ParseError{core::Fault::io, 0x40, "file", "read", 0, 5});
  findings.warning("other", 0x50, "{}: beside", "0x51");
  CHECK(findings.all()[0].text == "head.size: bad value: expected 0x1, found 0x2");
  CHECK(findings.all()[1].text == "cannot read: Input/output error");
  CHECK(findings.all()[2].text == "0x51: beside");
}

TEST_CASE("merging adds counts and keeps the order of first occurrence") {
  core::Findings first, second;
  first.warning("a", 1, "a");
  second.warning("b", 2, "b");
  second.warning("a", 3, "later");
  first.merge(second);
  REQUIRE(first.all().size() == 2);
  CHECK(first.count("a") == 2);
  CHECK(first.all()[0].text == "a");
  CHECK(first.all()[1].code.view() == "b");
}

TEST_CASE("that a file cannot be read is one state, whoever says so") {
  core::Findings first, second;
  first.warning("unreadable-range", 0x1000, "lost");
  second.warning("unreadable-range", 0x1000, "lost");
  first.merge(second);
  CHECK(first.count("unreadable-range") == 1);
}

TEST_CASE("a second look at the same structures is not counted again") {
  core::Findings first, second;
  first.warning("a", 1, "a");
  second.warning("a", 1, "a");
  second.warning("b", 2, "b");
  first.merge_unknown(second);
  CHECK(first.count("a") == 1);
  CHECK(first.count("b") == 1);
}

TEST_CASE("a code that was information and is a warning elsewhere is a warning") {
  core::Findings first, second;
  first.info("a", 1, "nothing");
  first.info("a", 2, "nothing");
  second.warning("a", 3, "lost");
  SECTION("merged") {
    first.merge(second);
    CHECK(first.all()[0].count == 3);
  }
  SECTION("as a second look") {
    first.merge_unknown(second);
    CHECK(first.all()[0].count == 2);
  }
  SECTION("in one list") {
    first.warning("a", 3, "lost");
    CHECK(first.all()[0].count == 3);
    first.info("a", 4, "nothing");
    CHECK(first.all()[0].count == 4);
  }
  SECTION("the other way round") {
    second.merge(first);
    CHECK(second.all()[0].count == 3);
    first = second;
  }
  REQUIRE(first.all().size() == 1);
  CHECK(first.all()[0].severity == core::Severity::warning);
  CHECK(first.all()[0].first_offset == 3);
  CHECK(first.all()[0].text == "lost");
}

TEST_CASE("a million findings of one code cost one") {
  core::Findings findings;
  for (u64 i = 0; i < 1'000'000; ++i) findings.warning("same", i, "at {}", i);
  CHECK(findings.all().size() == 1);
  CHECK(findings.count("same") == 1'000'000);
}

}  // namespace
}  // namespace coldtrace
