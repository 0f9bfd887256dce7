#include "coldtrace/core/symbol_name.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

TEST_CASE("a decorated name of C has the name of its source") {
  struct Row {
    const char* why;
    const char* name;
    const char* plain;
  };
  const auto row = GENERATE(values<Row>({
      {"nothing is added", "f", "f"},
      {"__cdecl", "_f", "f"},
      {"__stdcall", "_f@8", "f"},
      {"__stdcall without an underscore", "f@8", "f"},
      {"__fastcall", "@f@8", "f"},
      {"__cdecl of a name with an underscore of its own", "__f", "_f"},
      {"a pointer of imports", "__imp__f@8", "_imp__f"},
      {"a pointer of imports of x64", "__imp_f", "_imp_f"},
      {"an import's thunk",
       "\x7f"
       "f",
       "f"},
      {"__vectorcall, which is left", "f@@16", "f@@16"},
      {"a function of C++", "?f@@YAXXZ", "?f@@YAXXZ"},
      {"a method of C++", "?f@C@@QAEXH@Z", "?f@C@@QAEXH@Z"},
      {"no number after the '@'", "_f@g", "_f@g"},
      {"nothing after the '@'", "_f@", "_f@"},
      {"two '@' in C", "_f@g@8", "f@g@8"},
      {"a lone underscore", "_", "_"},
      {"a lone '@'", "@", "@"},
      {"a number alone", "_@8", "_@8"},
      {"no name", "", ""},
  }));
  CAPTURE(row.why);
  CHECK(core::undecorated(row.name) == row.plain);
}

}  // namespace
}  // namespace coldtrace
