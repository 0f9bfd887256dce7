#include "coldtrace/ntfs/structures/stored_text.hpp"

#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace ntfs;

// Any units, with halves of pairs among them, and pairs.
std::vector<std::byte> random_units(std::mt19937& source) {
  constexpr u16 units[] = {0x41,   0xe9,   0xd7ff, 0xd800, 0xd83d, 0xdbff,
                           0xdc00, 0xde00, 0xdfff, 0xe000, 0xfffd};
  std::vector<std::byte> bytes;
  for (auto left = source() % 6; left > 0; --left) {
    const u16 unit = units[source() % std::size(units)];
    bytes.push_back(static_cast<std::byte>(unit & 0xff));
    bytes.push_back(static_cast<std::byte>(unit >> 8));
  }
  return bytes;
}

TEST_CASE("exact text has all of a name, and shows it as other text does") {
  std::mt19937 source{1};
  std::map<std::string, std::string> names;
  for (int round = 0; round < 5000; ++round) {
    const auto bytes = random_units(source);
    const auto name = to_stored_text(bytes);
    const auto exact = to_exact(name);
    std::string shown, again;
    const bool valid = append_utf8(shown, name);
    CHECK(append_utf8(again, exact) == valid);
    CHECK(again == shown);
    if (valid) CHECK(exact == shown);
    CHECK(to_utf16_hex(exact) == to_utf16_hex(name));
    // No two names have one text.
    const auto [known, added] = names.emplace(exact, to_utf16_hex(name));
    CHECK(known->second == to_utf16_hex(name));
  }
}

TEST_CASE("unpaired surrogates are bytes as WTF-8 has them") {
  const std::vector<std::byte> bytes{std::byte{0x61}, std::byte{0}, std::byte{0}, std::byte{0xd8}};
  CHECK(to_exact(to_stored_text(bytes)) == "a\xed\xa0\x80");
  CHECK(to_utf16_hex(std::string_view{"/\xed\xbf\xbf"}) == "2f00ffdf");
  std::string shown;
  CHECK_FALSE(append_utf8(shown, std::string_view{"\xed\x9f\xbf/\xed\xbf\xbf"}));
  CHECK(shown == "\xed\x9f\xbf/\xef\xbf\xbd");
}

}  // namespace
}  // namespace coldtrace
