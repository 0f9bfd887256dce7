#include "cli/trace/analysis/top/page_text.hpp"

#include <catch2/catch.hpp>

namespace coldtrace::cli {

TEST_CASE("a column keeps the end of a text, or its start, and whole characters") {
  CHECK(end_of("abcdef", 6) == "abcdef");
  CHECK(end_of("abcdefg", 6) == "...efg");
  CHECK(start_of("abcdef", 6) == "abcdef");
  CHECK(start_of("abcdefg", 6) == "abc...");
  const std::string euros = "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac";
  CHECK(end_of(euros, 5) == euros);
  CHECK(end_of(euros, 4) == "..." + euros.substr(12));
  CHECK(start_of(euros, 4) == euros.substr(0, 3) + "...");
  CHECK(end_of("", 4).empty());
}

}  // namespace coldtrace::cli
