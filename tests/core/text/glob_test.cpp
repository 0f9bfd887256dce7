#include "coldtrace/core/glob.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fnmatch.h>

namespace coldtrace {
namespace {

TEST_CASE("a glob matches the whole text") {
  const auto [pattern, text, matches] = GENERATE(table<std::string, std::string, bool>({
      {"", "", true},
      {"", "a", false},
      {"*", "", true},
      {"?", "", false},
      {"?", "a", true},
      {"a", "", false},
      {"Nt*", "NtClose", true},
      {"Nt*", "ZwClose", false},
      {"*Close", "NtClose", true},
      {"*Close", "NtCloseAll", false},
      {"*a*b", "aab", true},
      {"*a*b*", "ba", false},
      {"a**", "a", true},
      {"Nt?lose", "NtClose", true},
      {"nt*", "NtClose", false},
      {"[N]t*", "NtClose", false},
      {"\\*", "*", false},
  }));
  CAPTURE(pattern, text);
  CHECK(glob_matches(pattern, text, GlobCase::sensitive) == matches);
}

TEST_CASE("only ASCII letters lose their case in a glob") {
  CHECK(glob_matches("KERNEL*.dll", "kernel32.DLL", GlobCase::insensitive));
  CHECK_FALSE(glob_matches("a[", "A{", GlobCase::insensitive));
  CHECK_FALSE(glob_matches("\xc4", "\xe4", GlobCase::insensitive));
}

TEST_CASE("a glob agrees with fnmatch") {
  std::mt19937 random{7};
  std::string pattern;
  std::string text;
  std::uniform_int_distribution<std::size_t> size{0, 9};
  std::uniform_int_distribution<std::size_t> letter{0, 5};
  for (int round = 0; round < 100'000; ++round) {
    pattern.clear();
    text.clear();
    for (auto left = size(random); left > 0; --left) pattern += "abAB*?"[letter(random)];
    for (auto left = size(random); left > 0; --left) text += "abABba"[letter(random)];
    CAPTURE(pattern, text);
    REQUIRE(glob_matches(pattern, text, GlobCase::sensitive) ==
            (::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0));
    REQUIRE(glob_matches(pattern, text, GlobCase::insensitive) ==
            (::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE | FNM_CASEFOLD) == 0));
  }
}

TEST_CASE("a glob of many stars ends soon") {
  std::string pattern;
  for (int star = 0; star < 1'000; ++star) pattern += "*a";
  pattern += 'b';
  CHECK_FALSE(glob_matches(pattern, std::string(10'000, 'a'), GlobCase::sensitive));
}

TEST_CASE("a star or a question mark makes a glob") {
  CHECK(is_glob("Nt*"));
  CHECK(is_glob("Nt?lose"));
  CHECK_FALSE(is_glob("NtClose"));
  CHECK_FALSE(is_glob(""));
}

}  // namespace
}  // namespace coldtrace
