#include "coldtrace/core/marked_text.hpp"

#include <span>
#include <string>

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace std::string_literals;

TEST_CASE("a text is read by the mark that it begins with") {
  struct Row {
    const char* why;
    std::string bytes, text;
    u64 invalid = 0, first = 0;
  };
  const auto row = GENERATE(values<Row>({
      {"nothing", "", ""},
      {"no mark", "a\xff\xfe", "a\xff\xfe", 2, 1},
      {"UTF-8", "\xef\xbb\xbf\xc3\xa9", "\xc3\xa9"},
      {"UTF-8, once", "\xef\xbb\xbf\xef\xbb\xbf", "\xef\xbb\xbf"},
      {"half a mark", "\xef\xbb", "\xef\xbb", 2, 0},
      {"UTF-16LE", "\xff\xfe\xe9\0a\0"s, "\xc3\xa9\x61"},
      {"UTF-16BE", "\xfe\xff\0\xe9\0a"s, "\xc3\xa9\x61"},
      {"an odd byte", "\xfe\xff\0\xe9\0"s, "\xc3\xa9", 1, 4},
      {"a mark alone", "\xff\xfe", ""},
      {"an unpaired surrogate", "\xfe\xff\xd8\0"s, "\xef\xbf\xbd", 1, 2},
      {"two of the wrong order",
       "\xff\xfe"
       "a\0\0\xdc\0\xd8"s,
       "a\xef\xbf\xbd\xef\xbf\xbd", 2, 4},
      {"a pair", "\xff\xfe\x3d\xd8\0\xde"s, "\xf0\x9f\x98\x80"},
  }));
  CAPTURE(row.why);
  const auto bytes = std::as_bytes(std::span{row.bytes});
  const auto text = core::decode_marked_text(bytes);
  CHECK(text.utf8 == row.text);
  CHECK(text.invalid == row.invalid);
  if (row.invalid > 0) CHECK(text.first_invalid == row.first);
}

TEST_CASE("characters have the places that they have in the file") {
  const std::string bytes =
      "\xff\xfe"
      "a\0\xe9\0\x3d\xd8\0\xde"
      "b\0"s;
  const auto text = core::decode_marked_text(std::as_bytes(std::span{bytes}));
  CHECK(text.offset_of(0) == 2);
  CHECK(text.offset_of(text.utf8.find("\xc3")) == 4);
  CHECK(text.offset_of(text.utf8.find("\xf0")) == 6);
  CHECK(text.offset_of(text.utf8.find('b')) == 10);
  CHECK(text.offset_of(text.utf8.size()) == 12);
  const std::string plain = "\xef\xbb\xbf\xc3\xa9\x80z";
  CHECK(core::decode_marked_text(std::as_bytes(std::span{plain})).offset_of(3) == 6);
}
