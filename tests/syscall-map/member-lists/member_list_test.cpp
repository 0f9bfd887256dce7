#include "coldtrace/syscall-map/member_list.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace coldtrace {
namespace {

using namespace syscall_map;

std::vector<MemberRequest> read(std::string text) {
  const MemberListSource source{"a.members", std::move(text)};
  auto requests = read_member_lists({&source, 1});
  INFO((requests ? std::string{} : to_string(requests.error())));
  REQUIRE(requests);
  return std::move(*requests);
}

std::string refuse(std::string text) {
  const MemberListSource source{"a.members", std::move(text)};
  const auto requests = read_member_lists({&source, 1});
  REQUIRE_FALSE(requests);
  return to_string(requests.error());
}

TEST_CASE("a member list names members, symbols, sizes, bits and constants") {
  using enum MemberKind;
  using Requests = std::vector<MemberRequest>;
  CHECK(read("").empty());
  CHECK(read("\xEF\xBB\xBF# nothing\r\n").empty());
  CHECK(read("_EPROCESS.Token PsLoadedModuleList") ==
        Requests{{"_EPROCESS.Token", offset, {"_EPROCESS.Token"}, false},
                 {"PsLoadedModuleList", global, {"PsLoadedModuleList"}, false}});
  CHECK(read("optional P = _KTHREAD.Process | _ETHREAD.ThreadsProcess # eras\n size _X") ==
        Requests{{"P", offset, {"_KTHREAD.Process", "_ETHREAD.ThreadsProcess"}, true},
                 {"_X", size, {"_X"}, false}});
  CHECK(read("A | B optional function C bit D=_S.f constant E=_N.E offset o=_S.o global g=a.b") ==
        Requests{{"A", global, {"A", "B"}, false},
                 {"C", function, {"C"}, true},
                 {"D", bit, {"_S.f"}, false},
                 {"E", constant, {"_N.E"}, false},
                 {"o", offset, {"_S.o"}, false},
                 {"g", global, {"a.b"}, false}});
  CHECK(read("\"optional\" = \"<unnamed-tag>.x\" size_t bits ?Draw@@YAXXZ") ==
        Requests{{"optional", offset, {"<unnamed-tag>.x"}, false},
                 {"size_t", global, {"size_t"}, false},
                 {"bits", global, {"bits"}, false},
                 {"?Draw@@YAXXZ", global, {"?Draw@@YAXXZ"}, false}});
}

TEST_CASE("a name is asked for once, and required where one of several says so") {
  const auto requests = read("optional A\nB\nA\noptional B\n");
  REQUIRE(requests.size() == 2);
  CHECK_FALSE(requests[0].optional);
  CHECK_FALSE(requests[1].optional);
  CHECK(refuse("A\nA = B\n") == "a.members:2:1: 'A' is already asked for, as something else");
  CHECK(refuse("A\n  function A\n") ==
        "a.members:2:12: 'A' is already asked for, as something else");
}

TEST_CASE("errors of a member list name their place") {
  struct Row {
    const char* text;
    const char* error;
  };
  const auto row = GENERATE(values<Row>({
      {"A =", "a.members:1:4: expected a member or a symbol after '='"},
      {"A |\n|", "a.members:2:1: expected a member or a symbol after '|'"},
      {"A\n= B =", "a.members:2:5: expected a name, what kind of thing it is, 'optional' or '@'"},
      {"optional", "a.members:1:9: expected a name, or what kind of thing it is"},
      {"optional optional A", "a.members:1:10: expected a name, or what kind of thing it is"},
      {"size", "a.members:1:5: expected a name"},
      {"@", "a.members:1:2: expected the name of a built-in list"},
      {"\n @nothing",
       "a.members:2:2: there is no built-in list 'nothing', only edr, edrsandblast, kphdyn, "
       "phnt, tracer"},
      {"bit A", "a.members:1:5: 'A' is not a member: a structure, a dot and the member are needed"},
      {"offset A.",
       "a.members:1:8: 'A.' is not a member: a structure, a dot and the member are needed"},
      {"A=_EPROCESS.",
       "a.members:1:3: '_EPROCESS.' is not a member: a structure, a dot and the member are needed"},
      {"_A.b..c",
       "a.members:1:1: '_A.b..c' is not a member: a structure, a dot and the member are "
       "needed"},
      {"size A = _EPROCESS.", "a.members:1:10: '_EPROCESS.' is neither a type nor a member"},
      {"A = B | _C.d",
       "a.members:1:1: members and symbols are alternatives of 'A': say which kind it is"},
      {"a = _EPROCESS.Token\n  | _EPROCESS.Pcb\n  | _EPROCESS..X",
       "a.members:3:5: '_EPROCESS..X' is not a member: a structure, a dot and the member are "
       "needed"},
      {"# sizes\nsize W = _A\n  | \"_A.\" | _B.c",
       "a.members:3:5: '_A.' is neither a type nor a member"},
      {"bit W =\n  _A.b |\n C",
       "a.members:3:2: 'C' is not a member: a structure, a dot and the member are needed"},
      {"_A.b |\n _A..c\n",
       "a.members:2:2: '_A..c' is not a member: a structure, a dot and the member are needed"},
      {"A.b\nconstant\n  W\n  =\n  Foo",
       "a.members:5:3: 'Foo' is not a constant: an enumeration, a dot and the enumerator are "
       "needed"},
      {"constant A",
       "a.members:1:10: 'A' is not a constant: an enumeration, a dot and the enumerator are "
       "needed"},
      {"\"\"", "a.members:1:1: the name is empty"},
      {"\"a\tb\"", "a.members:1:1: the name contains a control character"},
      {"\"\xff\"", "a.members:1:1: the name is not UTF-8"},
      {"\xFF\xFE", "a.members:1:1: the file is UTF-16: save it as UTF-8"},
  }));
  CHECK(refuse(row.text) == row.error);
}

TEST_CASE("a member list has limits") {
  CHECK(refuse(std::string(largest_member_list + 1, ' ')) ==
        "a.members:1:1: the file is larger than 1048576 bytes");
  CHECK(refuse(std::string(longest_member_name + 1, 'a')) ==
        "a.members:1:1: the name is longer than 1024 bytes");
  std::string many;
  for (std::size_t i = 0; i < most_members; ++i) many += fmt::format("a{}\n", i);
  CHECK(read(many).size() == most_members);
  CHECK(refuse(many + "b") == "a.members:16385:1: more than 16384 members");
  std::string alternatives = "a";
  for (std::size_t i = 1; i < most_member_alternatives; ++i) alternatives += "|b";
  CHECK(read(alternatives).size() == 1);
  CHECK(refuse(alternatives + "|b") == "a.members:1:129: more than 64 alternatives");
}

TEST_CASE("the built-in member lists can be read, alone and together") {
  std::string all;
  for (const auto name : built_in_member_lists()) {
    CAPTURE(name);
    const auto use = fmt::format("@{}\n", name);
    CHECK(read(use).size() > 10);
    CHECK(read(use + use) == read(use));
    CHECK(read(std::string{*find_built_in_member_list(name)}) == read(use));
    all += use;
  }
  CHECK(read(all).size() > 100);
  CHECK(read("@kphdyn").size() == 35);
  CHECK(read("@edrsandblast").size() == 11);
  CHECK_FALSE(find_built_in_member_list("edr.members"));
}

}  // namespace
}  // namespace coldtrace
