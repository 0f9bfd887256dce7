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

}  // namespace
}  // namespace coldtrace::core
