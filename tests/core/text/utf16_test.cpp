#include "coldtrace/core/utf16.hpp"

#include <span>
#include <string>

#include <catch2/catch.hpp>

#include "coldtrace/core/hex.hpp"
#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace {
namespace {

using namespace std::string_literals;

fixtures::ByteWriter units(const std::vector<u16>& values) {
  fixtures::ByteWriter writer;
  for (const auto value : values) writer.write_u16(value);
  return writer;
}

TEST_CASE("Exact text is cut between characters") {
  const auto text = "a\xed\xa0\x80\xf0\x9f\x98\x80"s;  // with an unpaired surrogate
  constexpr std::size_t kept[] = {0, 1, 1, 1, 4, 4, 4, 4, 8, 8};
  for (std::size_t most = 0; most < std::size(kept); ++most)
    CHECK(core::cut_exact(text, most) == text.substr(0, kept[most]));
  const std::string other(8, '\x80');  // no text
  CHECK(core::cut_exact(other, 5).size() == 5);
}

TEST_CASE("UTF-16 becomes UTF-8, and an unpaired surrogate U+FFFD") {
  struct Row {
    const char* why;
    std::vector<u16> units;
    const char* utf8;
    bool valid;
  };
  const auto row = GENERATE(values<Row>({
      {"empty", {}, "", true},
      {"one, two and three bytes", {0x41, 0xe9, 0x20ac}, "A\xc3\xa9\xe2\x82\xac", true},
      {"a pair is four bytes", {0xd83d, 0xde00}, "\xf0\x9f\x98\x80", true},
      {"a high surrogate at the end", {0x41, 0xd83d}, "A\xef\xbf\xbd", false},
      {"a low surrogate first",
       {0xde00, 0x41},
       "\xef\xbf\xbd"
       "A",
       false},
      {"two high surrogates, the second one paired",
       {0xd83d, 0xd83d, 0xde00},
       "\xef\xbf\xbd\xf0\x9f\x98\x80",
       false},
      {"the last code points", {0xffff, 0xdbff, 0xdfff}, "\xef\xbf\xbf\xf4\x8f\xbf\xbf", true},
  }));
  CAPTURE(row.why);
  const auto text = core::decode_utf16(units(row.units).view());
  CHECK(text.utf8 == row.utf8);
  CHECK(text.valid == row.valid);
}

TEST_CASE("an odd last byte is not text") {
  CHECK(core::decode_utf16(units({0x41, 0x42}).view().first(3)).utf8 == "A");
}

TEST_CASE("text ends at the NUL unit, not at a zero byte") {
  CHECK(core::until_nul_unit(units({0x4100, 0x0041, 0, 0x42}).view()).size() == 4);
  CHECK(core::until_nul_unit(units({0x41}).view()).size() == 2);
}

TEST_CASE("every code point survives the way to UTF-16 and back") {
  for (u32 code = 1; code < 0x110000; code += 0x61) {
    if ((code & 0xfffff800) == 0xd800) continue;
    const auto once = code < 0x10000 ? units({static_cast<u16>(code)})
                                     : units({static_cast<u16>(0xd7c0 + (code >> 10)),
                                              static_cast<u16>(0xdc00 | (code & 0x3ff))});
    const auto text = core::decode_utf16(once.view());
    REQUIRE(text.valid);
    REQUIRE(core::encode_utf16(text.utf8) == once.string());
  }
}

TEST_CASE("bytes that are not UTF-8 encode as U+FFFD") {
  const auto bad =
      GENERATE(as<std::string>{}, "\x80", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80");
  CAPTURE(bad);
  CHECK(core::encode_utf16(bad).substr(0, 2) == "\xfd\xff");
}

TEST_CASE("exact text tells all units apart, and is UTF-8 where they are valid") {
  struct Row {
    const char* why;
    std::vector<u16> units;
    std::string exact;
    std::string shown;
  };
  const auto row = GENERATE(values<Row>({
      {"valid",
       {0x41, 0xd83d, 0xde00, 0xfffd},
       "A\xf0\x9f\x98\x80\xef\xbf\xbd",
       "A\xf0\x9f\x98\x80\xef\xbf\xbd"},
      {"a high one at the end", {0x41, 0xd800}, "A\xed\xa0\x80", "A\xef\xbf\xbd"},
      {"a low one first", {0xdfff, 0xe9}, "\xed\xbf\xbf\xc3\xa9", "\xef\xbf\xbd\xc3\xa9"},
      {"beside a pair",
       {0xd83d, 0xd83d, 0xde00},
       "\xed\xa0\xbd\xf0\x9f\x98\x80",
       "\xef\xbf\xbd\xf0\x9f\x98\x80"},
  }));
  CAPTURE(row.why);
  const auto bytes = units(row.units);
  CHECK(core::decode_exact(bytes.view()) == row.exact);
  CHECK(core::shown_text(row.exact) == row.shown);
  CHECK(core::to_utf16_hex(row.exact) == core::to_hex(bytes.view()));
}

}  // namespace
}  // namespace coldtrace
