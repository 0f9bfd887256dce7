#include "coldtrace/core/loaded_library.hpp"

#include <cstddef>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using core::LoadedLibrary;

// Of glibc, which a program has loaded in any case.
constexpr const char* soname = "libc.so.6";

TEST_CASE("functions of a loaded library are found by prefix and name, and can be called") {
  std::size_t (*length)(const char*) = nullptr;
  int (*compare)(const char*, const char*) = nullptr;
  CHECK(LoadedLibrary{soname, "str"}.find("len", length).find("cmp", compare).is_complete());
  REQUIRE(length != nullptr);
  CHECK(length("four") == 4);
  REQUIRE(compare != nullptr);
  CHECK(compare("a", "b") < 0);
}

TEST_CASE("a library that lacks one function is not complete, whatever it is asked for then") {
  std::size_t (*length)(const char*) = nullptr;
  void (*absent)() = [] {};
  CHECK_FALSE(
      LoadedLibrary{soname}.find("no_such_function", absent).find("strlen", length).is_complete());
  CHECK(absent == nullptr);
  CHECK(length != nullptr);
}

TEST_CASE("a library that is not there has no functions") {
  void (*function)() = [] {};
  LoadedLibrary library{"libcoldtrace-absent.so.1"};
  CHECK_FALSE(library.is_complete());
  CHECK_FALSE(library.find("strlen", function).is_complete());
  CHECK(function == nullptr);
}

}  // namespace
}  // namespace coldtrace
