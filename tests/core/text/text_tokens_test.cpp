#include "coldtrace/core/text_tokens.hpp"

#include <type_traits>

#include <catch2/catch.hpp>

namespace coldtrace::core {
namespace {

static_assert(std::is_constructible_v<TokenPlaces, const std::string&>);
static_assert(!std::is_constructible_v<TokenPlaces, std::string>);

TEST_CASE("lines and columns of tokens count from 1") {
  const std::string_view text = "services Nt*\n\n  trace \"a\"";
  TokenPlaces places{text};
  const auto check = [&](std::string_view token, u32 line, u32 column) {
    const auto place = places.of(text.substr(text.find(token)));
    CHECK(place.line == line);
    CHECK(place.column == column);
  };
  check("services", 1, 1);
  check("Nt*", 1, 10);
  check("trace", 3, 3);
  check("\"a\"", 3, 9);
}

TEST_CASE("what a token says, or why it says nothing") {
  struct Row {
    std::string_view token, text, error;
  };
  const Row rows[] = {
      {"a", "a", {}},
      {"\"a b\"", "a b", {}},
      {"", {}, "the name is empty"},
      {"\"\"", {}, "the name is empty"},
      {"\"", "\"", {}},
      {"\"a", "\"a", {}},
      {"abcdefghij", "abcdefghij", {}},
      {"abcdefghijk", {}, "the name is longer than 10 bytes"},
      {"\"a\tb\"", {}, "the name contains a control character"},
      {"a\xff", {}, "the name is not UTF-8"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.token);
    const auto text = unquote_token(row.token, "name", 10);
    CHECK(text.has_value() == row.error.empty());
    if (text)
      CHECK(*text == row.text);
    else
      CHECK(text.error() == row.error);
  }
}

}  // namespace
}  // namespace coldtrace::core
