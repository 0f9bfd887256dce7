#include "coldtrace/syscall-map/hook-profiles/profile_language.hpp"

#include <catch2/catch.hpp>

#include "coldtrace/syscall-map/hook-profiles/profile_parser.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/syscall-map/hook-profiles/random_profile.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using Kind = ProfileRule::Kind;

ProfileFile parsed(std::string_view text) {
  auto file = parse_profile(text);
  if (!file) FAIL(core::to_string(file.error()));
  return std::move(*file);
}

std::vector<std::string> names(const std::vector<ProfileRule>& rules) {
  std::vector<std::string> texts;
  for (const auto& rule : rules) texts.push_back(to_text(rule));
  return texts;
}

TEST_CASE("a plain list of services is a profile") {
  const auto file =
      parsed("NtClose\nNtOpenFile\n\n  Get_VMM_Version   # of Windows 95\nVMM!Get_Cur_VM_Handle\n");
  CHECK(file.groups.empty());
  CHECK(names(file.rules) == std::vector<std::string>{"NtClose", "NtOpenFile", "Get_VMM_Version",
                                                      "VMM!Get_Cur_VM_Handle"});
  for (const auto& rule : file.rules) {
    CHECK(rule.kind == Kind::services);
    CHECK_FALSE(rule.leaves_out);
    CHECK_FALSE(rule.name.glob);
  }
  CHECK(parsed("") == ProfileFile{});
  CHECK(parsed("# nothing") == ProfileFile{});
}

TEST_CASE("lists that Windows' editors wrote are read") {
  CHECK(names(parsed("\xEF\xBB\xBFNtClose\r\nNtOpenFile\r\n").rules) ==
        std::vector<std::string>{"NtClose", "NtOpenFile"});
}

TEST_CASE("every kind of rule is read with its place") {
  const auto file = parsed(
      "group files {\n"
      "  nt!Nt*File -NtFlush*\n"
      "}\n"
      "include \"common files/a.profile\"\n"
      "@files  - @quiet\n"
      "\"?Draw@@YAXXZ\" _NtClose@4 win32*!\"group\"\n");
  REQUIRE(file.groups.size() == 1);
  const auto& group = file.groups.front();
  CHECK(group.name == "files");
  CHECK((group.place.line == 1 && group.place.column == 7));
  REQUIRE(group.rules.size() == 2);
  CHECK(group.rules[0].module == ProfileName{"nt", false});
  CHECK(group.rules[0].name == ProfileName{"Nt*File", true});
  CHECK(group.rules[1].leaves_out);
  CHECK((group.rules[1].place.line == 2 && group.rules[1].place.column == 14));
  REQUIRE(file.rules.size() == 6);
  CHECK(
      (file.rules[0].kind == Kind::include && file.rules[0].name.text == "common files/a.profile"));
  CHECK((file.rules[1].kind == Kind::group && file.rules[1].name.text == "files"));
  CHECK((file.rules[2].kind == Kind::group && file.rules[2].leaves_out));
  CHECK((file.rules[2].place.line == 5 && file.rules[2].place.column == 9));
  CHECK(file.rules[3].name == ProfileName{"?Draw@@YAXXZ", false});
  CHECK(file.rules[4].name == ProfileName{"_NtClose@4", false});
  CHECK(file.rules[5].module == ProfileName{"win32*", true});
  CHECK(file.rules[5].name == ProfileName{"group", false});
}

TEST_CASE("errors of a profile have their place and say what was expected") {
  struct Row {
    const char* why;
    std::string text;
    const char* error;
  };
  const Row rows[] = {
      {"a comma", "NtClose, NtOpenFile", "1:8: expected a name, '@', '-', 'include' or 'group'"},
      {"nothing behind the module", "NtClose\nnt! ",
       "2:5: expected a name or glob of services after '!'"},
      {"a blank before '!'", "nt !NtClose", "1:4: expected a name, '@', '-', 'include' or 'group'"},
      {"nothing to leave out", "NtClose -", "1:10: expected a name, or '@' and a group"},
      {"an include left out", "-include \"a\"", "1:2: expected a name, or '@' and a group"},
      {"a group without a name", "@ files", "1:3: expected the name of a group"},
      {"a group without braces", "group files NtClose", "1:13: expected '{'"},
      {"a group in a group", "group a {\n group b { }\n}", "2:2: expected a name, '@', '-' or '}'"},
      {"an include in a group", "group a { include \"b\" }",
       "1:11: expected a name, '@', '-' or '}'"},
      {"a group that does not end", "group a {\n  NtClose\n",
       "3:1: expected a name, '@', '-' or '}'"},
      {"an include without quotes", "include common.profile", "1:9: expected a path in quotes"},
      {"quotes over two lines", "\"NtClose\n\"",
       "1:1: expected a name, '@', '-', 'include' or "
       "'group'"},
      {"an empty name", "nt!\"\"", "1:4: the name is empty"},
      {"an empty path", "include \"\"", "1:9: the path is empty"},
      {"a control character", "\"Nt\tClose\"", "1:1: the name contains a control character"},
      {"Latin-1", "\"Nt\xFC\"", "1:1: the name is not UTF-8"},
      {"two groups of one name", "group a { }\ngroup a { }",
       "2:7: there is already a group 'a', in line 1"},
      {"a long name", std::string(257, 'N'), "1:1: the name is longer than 256 bytes"},
      {"a NUL", std::string{"NtClose\0", 8},
       "1:8: expected a name, '@', '-', 'include' or 'group'"},
      {"UTF-16", "\xFF\xFEN", "1:1: the file is UTF-16: save it as UTF-8"},
  };
  for (const auto& [why, text, error] : rows) {
    CAPTURE(why);
    const auto file = parse_profile(text);
    REQUIRE_FALSE(file);
    CHECK(core::to_string(file.error()) == error);
  }
}

TEST_CASE("the limits of a profile's file hold") {
  std::string rules;
  for (std::size_t i = 0; i < most_profile_rules; ++i) rules += "a\n";
  CHECK(parse_profile(rules));
  CHECK(core::to_string(fixtures::error_of(parse_profile(rules + "a"))) ==
        "65537:1: more than 65536 rules");
  std::string groups;
  for (std::size_t i = 0; i < most_profile_groups; ++i)
    groups += "group g" + std::to_string(i) + "{}";
  CHECK(parse_profile(groups));
  CHECK_FALSE(parse_profile(groups + "group g {}"));
  CHECK(parse_profile(std::string(largest_profile_file, ' ')));
  CHECK_FALSE(parse_profile(std::string(largest_profile_file + 1, ' ')));
  CHECK_FALSE(parse_profile(std::string(largest_profile_file, '-')));
}

TEST_CASE("1000 profiles are the same when printed and read back") {
  for (u32 seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    RandomProfile random{seed};
    const auto file = random.make({"a", "b.c", "_d-e"}, random.pick(4), {"x.profile", "../y z#"});
    const auto text = to_text(file);
    CAPTURE(text);
    const auto again = parse_profile(text);
    REQUIRE(again);
    REQUIRE(*again == file);
    REQUIRE(to_text(*again) == text);
  }
}

}  // namespace
}  // namespace coldtrace
