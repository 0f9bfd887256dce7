#include "fixtures/builders/strict_json.hpp"

#include <catch2/catch.hpp>

namespace coldtrace::fixtures {
namespace {

using namespace std::string_view_literals;

TEST_CASE("the strict reader of JSON takes what is right and nothing else") {
  for (const auto text : {R"({"a":[1,-0.5,"\ud83d\ude00",null],"b":{"a":1}})"sv, "[]"sv, "0"sv,
                          "\"\xe2\x80\xa8\\u0000\xf0\x9f\x98\x80\""sv})
    CHECK(find_json_error(text) == std::nullopt);
  for (const auto text : {""sv,
                          "{"sv,
                          "{}x"sv,
                          R"({"a":1,"a":2})"sv,
                          "[NaN]"sv,
                          "[Infinity]"sv,
                          "[1e999]"sv,
                          "[01]"sv,
                          "[1,]"sv,
                          "['a']"sv,
                          "[\"\x1b\"]"sv,
                          "[\"a\nb\"]"sv,
                          R"(["""])"sv,
                          R"(["\"])"sv,
                          R"(["\x41"])"sv,
                          R"(["\ud800"])"sv,
                          "[\"\xff\"]"sv,
                          "[\"\xc3"sv,
                          "[\"\0\"]"sv,
                          R"(["\udc00"])"sv,
                          "[\"\xc0\x80\"]"sv,
                          "[\"\xed\xa0\x80\"]"sv,
                          "\xef\xbb\xbf[]"sv}) {
    CAPTURE(text);
    CHECK(find_json_error(text) != std::nullopt);
  }
}

TEST_CASE("the strict reader of lines wants one object in each") {
  CHECK(find_ndjson_error("") == std::nullopt);
  CHECK(find_ndjson_error("{\"a\":1}\n{\"a\":\"\xe2\x80\xa8\"}\n") == std::nullopt);
  for (const auto text : {"{}"sv, "{}\r\n"sv, "{}\n\n"sv, "[]\n"sv, " {}\n"sv, "{}{}\n"sv})
    CHECK(find_ndjson_error(text) != std::nullopt);
}

TEST_CASE("the strict reader of CSV wants quotes where they belong and rows of one width") {
  for (const auto text : {"a,b\n1,\"x\"\"y,\n\r\"\n,\n"sv, "a,b\r\n1,\"\n\"\r\n"sv, "a\n\n"sv})
    CHECK(find_csv_error(text) == std::nullopt);
  for (const auto text :
       {""sv, "a,b"sv, "a,b\n1\n"sv, "a,b\n1,2,3\n"sv, "a,b\n1,\"2\n"sv, "a,b\n1,\"2\"3\n"sv,
        "a,b\n1,2\"3\n"sv, "a,b\n1,2\r\n"sv, "a,b\n1\r2,3\n"sv, "a,b\n1,\xff\n"sv, "a,b\n1,"sv}) {
    CAPTURE(text);
    CHECK(find_csv_error(text) != std::nullopt);
  }
}

}  // namespace
}  // namespace coldtrace::fixtures
