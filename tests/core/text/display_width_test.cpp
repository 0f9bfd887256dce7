#include "coldtrace/core/display_width.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace coldtrace::core {
namespace {

TEST_CASE("wide characters take two columns and combining ones none") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xe6\x97\xa5") == 2);
  CHECK(display_width("e\xcc\x81") == 1);
}

TEST_CASE("a text is not cut between a character and what is drawn over it") {
  const std::string text =
      "xe\xcc\x81"
      "e\xcc\x81";
  CHECK(fitting_end(text, 2) ==
        "e\xcc\x81"
        "e\xcc\x81");
  CHECK(fitting_end(text, 1) == "e\xcc\x81");
  CHECK(fitting_front(text, 2) == "xe\xcc\x81");
  CHECK(fitting_front(text, 1) == "x");
  const std::string wide =
      "\xe6\x97\xa5"
      "a";
  CHECK(fitting_end(wide, 2) == "a");
  CHECK(fitting_front(wide, 1).empty());
}

TEST_CASE("an escape is not cut") {
  const std::string text = R"(abc\u202eexe)";
  CHECK(fitting_end(text, 8) == "exe");
  CHECK(fitting_end(text, 9) == R"(\u202eexe)");
  CHECK(fitting_front(text, 8) == "abc");
  CHECK(fitting_front(text, 9) == R"(abc\u202e)");
  const std::string byte = R"(\x9bz)", folder = R"(\user\x)";
  CHECK(fitting_end(byte, 4) == "z");
  CHECK(fitting_end(folder, 5) == R"(ser\x)");
}

}  // namespace
}  // namespace coldtrace::core
