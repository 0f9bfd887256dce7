#include "coldtrace/syscall-map/hook-profiles/hook_profile.hpp"

#include <map>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/result.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

using Texts = std::map<std::string, std::string>;

core::Expected<HookProfile, ProfileError> link(const Texts& texts) {
  return read_profile({"main", "main", texts.at("main")},
                      [&](const std::string&,
                          const std::string& path) -> core::Expected<ProfileSource, std::string> {
                        const auto found = texts.find(path);
                        if (found == texts.end())
                          return core::fail(fmt::format("no file {}", path));
                        return ProfileSource{path, path, found->second};
                      });
}

TEST_CASE("includes put their rules where they stand, and their groups before all") {
  const auto profile = link({{"main", "@late a include \"one\" b include \"one\" group own { c }"},
                             {"one", "x @own group late { y }"}});
  REQUIRE(profile);
  std::string rules;
  for (const auto& rule : profile->rules)
    rules += fmt::format("{} of {}, ", to_text(rule.text), profile->files[rule.file]);
  CHECK(rules ==
        "@late of main, a of main, x of one, @own of one, b of main, x of one, @own of one, ");
  REQUIRE(profile->groups.size() == 2);
  CHECK((profile->groups[0].name == "own" && profile->groups[1].name == "late"));
  CHECK(profile->groups[profile->rules[0].group].name == "late");
}

TEST_CASE("what files of a profile cannot say together is refused at its place") {
  struct Row {
    const char* why;
    Texts texts;
    const char* error;
  };
  const Row rows[] = {
      {"an unknown group", {{"main", "NtClose\n  -@files"}}, "main:2:3: no group 'files'"},
      {"an unknown group in a group", {{"main", "group a {\n @b }"}}, "main:2:2: no group 'b'"},
      {"a group that is part of itself",
       {{"main", "group a { @a }"}},
       "main:1:11: the group is part of itself: @a -> @a"},
      {"a cycle of groups, over files",
       {{"main", "group a { @b }\ninclude \"one\""}, {"one", "group c { -@a }\ngroup b { x @c }"}},
       "one:1:11: the group is part of itself: @a -> @b -> @c -> @a"},
      {"a cycle of groups that none uses",
       {{"main", "group a { }\ngroup b { @c }\ngroup c { @b }"}},
       "main:3:11: the group is part of itself: @b -> @c -> @b"},
      {"a group of two files",
       {{"main", "include \"one\"\ngroup a { }"}, {"one", "\ngroup a { }"}},
       "one:2:7: there is already a group 'a', in main:2"},
      {"a missing file", {{"main", "x include \"none\""}}, "main:1:11: no file none"},
      {"a file that includes itself",
       {{"main", "include \"main\""}},
       "main:1:9: the file includes itself: main -> main"},
      {"a cycle of files",
       {{"main", "include \"one\""}, {"one", "x\ninclude \"two\""}, {"two", "include \"one\""}},
       "two:1:9: the file includes itself: one -> two -> one"},
      {"an error in an included file",
       {{"main", "include \"one\""}, {"one", "\n!"}},
       "one:2:1: expected a name, '@', '-', 'include' or 'group'"},
  };
  for (const auto& [why, texts, error] : rows) {
    CAPTURE(why);
    const auto profile = link(texts);
    REQUIRE_FALSE(profile);
    CHECK(to_string(profile.error()) == error);
  }
}

TEST_CASE("a long cycle of groups is cut in the message") {
  std::string text;
  for (u32 i = 0; i < most_profile_groups; ++i)
    text += fmt::format("group g{} {{ @g{} }}\n", i, (i + 1) % most_profile_groups);
  const auto profile = link({{"main", text}});
  REQUIRE_FALSE(profile);
  CHECK(profile.error().error.line == most_profile_groups);
  CHECK(profile.error().error.message.size() < 300);
}

TEST_CASE("groups are as deep as the limit and not deeper") {
  std::string text;
  for (u32 i = 1; i < deepest_profile_group; ++i)
    text += fmt::format("group g{} {{ @g{} @g{} }}\n", i, i + 1, i + 1);
  text += fmt::format("group g{} {{ NtClose }}\n", deepest_profile_group);
  CHECK(link({{"main", text}}));
  const auto profile = link({{"main", text + "group g { x\n@g1 }"}});
  REQUIRE_FALSE(profile);
  CHECK(to_string(profile.error()) == "main:34:1: groups are nested deeper than 32");
}

TEST_CASE("includes end, whatever they include") {
  SECTION("files that each include the next one twice are too many") {
    Texts texts{{"main", "include \"0\""}};
    for (int i = 0; i < 14; ++i)
      texts[std::to_string(i)] = fmt::format("x include \"{0}\" include \"{0}\"", i + 1);
    texts.emplace("14", "y");
    const auto profile = link(texts);
    REQUIRE_FALSE(profile);
    CHECK(profile.error().error.message == "more than 256 includes");
  }
  SECTION("a chain is as deep as the limit and not deeper") {
    Texts texts{{"main", "include \"1\""}};
    for (std::size_t i = 1; i < deepest_profile_include; ++i)
      texts[std::to_string(i)] = fmt::format("include \"{}\"", i + 1);
    const auto deepest = std::to_string(deepest_profile_include);
    texts.insert_or_assign(deepest, std::string{"x"});
    CHECK(link(texts));
    texts.insert_or_assign(deepest, std::string{"include \"last\""});
    texts.emplace("last", "x");
    const auto profile = link(texts);
    REQUIRE_FALSE(profile);
    CHECK(profile.error().error.message == "includes are nested deeper than 16");
  }
  SECTION("rules of all files together are bounded") {
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "x\n";
    std::string text;
    for (int i = 0; i < 66; ++i) text += "include \"many\"\n";
    const auto profile = link({{"main", text}, {"many", many}});
    REQUIRE_FALSE(profile);
    CHECK(profile.error().error.message == "more than 65536 rules");
  }
}

}  // namespace
}  // namespace coldtrace
