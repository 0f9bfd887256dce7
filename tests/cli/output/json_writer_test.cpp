#include <limits>

#include <catch2/catch.hpp>
#include <rapidjson/document.h>

#include "cli/output/json.hpp"

namespace coldtrace {
namespace {

using cli::Int64;
using cli::JsonWriter;
using cli::MaybeText;

// What `write` writes into an output in memory.
template <class Write>
std::string written(Int64 int64, Write&& write) {
  cli::BufferPool pool;
  cli::Output output{1 << 24, pool};
  JsonWriter json{output, int64};
  write(json);
  std::vector<core::TextBuffer> pieces;
  output.take(pieces);
  std::string text;
  for (const auto& piece : pieces) text += piece.view();
  return text;
}

template <class Write>
std::string written(Write&& write) {
  return written(Int64::number, write);
}

TEST_CASE("an object at once is the object member by member") {
  const std::optional<u32> none;
  const std::vector<std::string> texts{"a", "", "c\"d"};
  const auto at_once = written([&](JsonWriter& json) {
    json.begin_array();
    json.object("number", 7, "none", none, "some", std::optional<u64>{8}, "text", "a\nb", "flag",
                true, "texts", texts, "no_text", MaybeText{""}, "null", nullptr);
    json.object("next", -1);
    json.end_array();
  });
  const auto by_member = written([&](JsonWriter& json) {
    json.begin_array().begin_object();
    json.key("number").value(7).key("none").value(nullptr).field("some", 8U);
    json.key(std::string_view{"text"}).value("a\nb").field("flag", true);
    json.key("texts").begin_array().value("a").value("").value("c\"d").end_array();
    json.field("no_text", nullptr).field("null", nullptr).end_object();
    json.begin_object().field("next", -1).end_object().end_array();
  });
  CHECK(at_once == by_member);
  CHECK(at_once ==
        R"([{"number":7,"none":null,"some":8,"text":"a\nb","flag":true,"texts":["a","","c\"d"],)"
        R"("no_text":null,"null":null},{"next":-1}])");
}

TEST_CASE("bytes that are not UTF-8 stand beside their text") {
  const auto text = written([](JsonWriter& json) {
    json.object("name", MaybeText{"a\xff\x80z"}, "after", 1);
    json.begin_object().field("name", MaybeText{"\xc3\xa4"}).field("raw", "\xfe").end_object();
  });
  CHECK(text ==
        "{\"name\":\"a\xef\xbf\xbd\xef\xbf\xbdz\",\"name_bytes\":\"61ff807a\",\"after\":1}"
        ",{\"name\":\"\xc3\xa4\",\"raw\":\"\xef\xbf\xbd\"}");
}

TEST_CASE("whatever the bytes of a text are, it has room and is what a parser reads") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300}})
    for (int byte = 0; byte < 256; ++byte) {
      const std::string bytes(size, static_cast<char>(byte));
      const auto text = written([&](JsonWriter& json) {
        json.object("a", MaybeText{bytes}, "b", std::vector<std::string>(3, bytes));
      });
      rapidjson::Document document;
      document.Parse(text.data(), text.size());
      REQUIRE(document.IsObject());
      REQUIRE(document["b"].Size() == 3);
      if (byte >= 0x80 && size > 0)
        REQUIRE(document["a_bytes"].GetStringLength() == size * 2);
      else if (size > 0)
        REQUIRE(std::string_view{document["a"].GetString(), document["a"].GetStringLength()} ==
                bytes);
      else
        REQUIRE(document["a"].IsNull());
    }
}

TEST_CASE("integers beyond 2^53 are texts where that is wanted") {
  const auto numbers = [](JsonWriter& json) {
    json.begin_array();
    json.value(u64{1} << 53).value((u64{1} << 53) + 1).value(-(i64{1} << 53));
    json.value(-(i64{1} << 53) - 1).value(std::numeric_limits<i64>::min()).value(~u64{0});
    json.end_array();
  };
  CHECK(written(Int64::number, numbers) ==
        "[9007199254740992,9007199254740993,-9007199254740992,-9007199254740993,"
        "-9223372036854775808,18446744073709551615]");
  CHECK(written(Int64::string, numbers) ==
        "[9007199254740992,\"9007199254740993\",-9007199254740992,\"-9007199254740993\","
        "\"-9223372036854775808\",\"18446744073709551615\"]");
}

TEST_CASE("an output in memory keeps its order over many pieces and ends at its limit") {
  cli::BufferPool pool;
  cli::Output output{300'000, pool};
  std::vector<core::TextBuffer> pieces;
  for (int round = 0; round < 3; ++round) {
    std::string expected;
    for (int i = 0; i < 30'000; ++i) {
      const auto line = std::to_string(i) + "\n";
      output.write(line);
      expected += line;
    }
    output.take(pieces);
    CHECK(pieces.size() > 2);
    std::string text;
    for (const auto& piece : pieces) text += piece.view();
    CHECK(text == expected);
    pool.give_back(pieces);
    CHECK(pieces.empty());
  }
  const auto write_much = [&] {
    for (int i = 0; i < 100'000; ++i) output.write("0123456789");
  };
  CHECK_THROWS_AS(write_much(), cli::TooLong);
  output.clear();
  output.write("again");
  output.take(pieces);
  REQUIRE(pieces.size() == 1);
  CHECK(pieces[0].view() == "again");
}

}  // namespace
}  // namespace coldtrace
