#include "coldtrace/core/printable.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("what is printed shows all that a text holds, on one line") {
  struct Row {
    const char* why;
    std::string text;
    const char* shown;
  };
  const auto row = GENERATE(values<Row>({
      {"nothing", "", ""},
      {"letters of all lengths", "a\u00e9\u20ac\U0001f600", "a\u00e9\u20ac\U0001f600"},
      {"a line end and a tab", "\n\t", "\\x0a\\x09"},
      {"paths", R"(\\server\new\table\)", R"(\\server\new\table\)"},
      {"backslashes before an escape", "\\\\\x1b\\", R"(\\\\\x1b\)"},
      {"names that look like escapes", R"(C:\x1b\u202e\U000e0001)", R"(C:\\x1b\\u202e\\U000e0001)"},
      {"names that do not", R"(\x1\xg1\u202\U000e000)", R"(\x1\xg1\u202\U000e000)"},
      {"controls", "\x1b[m\x7f\u009b", "\\x1b[m\\x7f\\u009b"},
      {"the order of others", "\u202e\u2066", "\\u202e\\u2066"},
      {"zero width", "\u200b\ufeff", "\\u200b\\ufeff"},
      {"grapheme joiner", "\u034f", "\\u034f"},
      {"fillers", "\u115f\u1160\u3164\uffa0", "\\u115f\\u1160\\u3164\\uffa0"},
      {"vowels that show nothing", "\u17b4\u17b5", "\\u17b4\\u17b5"},
      {"Mongolian selectors", "\u180a\u180b\u180e\u180f\u1810",
       "\u180a\\u180b\\u180e\\u180f\u1810"},
      {"variation selectors, of emoji too", "\u2764\ufe0f\ufe00\ufe10",
       "\u2764\\ufe0f\\ufe00\ufe10"},
      {"the first and the last of the tags", "\U000e0000\U000e0100\U000e0fff\U000e1000",
       "\\U000e0000\\U000e0100\\U000e0fff\U000e1000"},
      {"joiners of hieroglyphs, and what comes before and behind them",
       "\U0001342f\U00013430\U0001343f\U00013440", "\U0001342f\\U00013430\\U0001343f\U00013440"},
      {"reserved for such", "\uffef\ufff0\ufff8\ufffc", "\uffef\\ufff0\\ufff8\ufffc"},
      {"unpaired surrogates of exact text, and what reads as one",
       "a\xed\xa0\x80\u00e9\\ud800\xed\xbf\xbf", "a\\ud800\u00e9\\\\ud800\\udfff"},
      {"what is no surrogate", "\xed\x9f\xbf\xed\xa0", "\\xed\\x9f\\xbf\\xed\\xa0"},
      {"bytes that are not UTF-8, where all above ASCII is doubtful", "\xff\u00e9",
       "\\xff\\xc3\\xa9"},
  }));
  CAPTURE(row.why);
  CHECK(core::printable(row.text) == row.shown);
}

}  // namespace
}  // namespace coldtrace
