#include "cli/output/json_text.hpp"

#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

namespace coldtrace {
namespace {

// What a parser reads from the JSON text, which is copied to bytes of exactly its size, so that
// AddressSanitizer sees a read behind.
std::string through_parser(std::string_view text) {
  const std::unique_ptr<char[]> copy{new char[text.size()]};
  text.copy(copy.get(), text.size());
  core::TextBuffer json;
  json.append('[');
  CHECK(cli::append_json_text(json, {copy.get(), text.size()}));
  json.append(']');
  rapidjson::Document document;
  document.Parse(json.view().data(), json.view().size());
  REQUIRE(document.IsArray());
  REQUIRE(document.Size() == 1);
  return {document[0].GetString(), document[0].GetStringLength()};
}

TEST_CASE("a JSON text is what a parser reads from it, whatever character stands where") {
  // Around the widths in which text is copied, and some of them together.
  for (std::size_t size = 0; size <= 36; size += size < 20 || size > 30 ? 1 : 11) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
    REQUIRE(through_parser(text) == text);
    for (std::size_t at = 0; at < size; ++at) {
      for (int c = 0; c < 0x80; ++c) {
        auto one = text;
        one[at] = static_cast<char>(c);
        REQUIRE(through_parser(one) == one);
        one[size - 1] = '"';
        REQUIRE(through_parser(one) == one);
      }
      auto longer = text;
      longer.replace(at, 1, "\xe2\x82\xac");
      REQUIRE(through_parser(longer) == longer);
    }
  }
}

}  // namespace
}  // namespace coldtrace
