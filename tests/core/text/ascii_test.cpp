#include "coldtrace/core/ascii.hpp"

#include <catch2/catch.hpp>

namespace coldtrace::core {
namespace {

TEST_CASE("only letters of ASCII change their case") {
  CHECK(to_lower("NtClose@[`{ \xc4\xe4") == "ntclose@[`{ \xc4\xe4");
  CHECK(to_upper('z') == 'Z');
  CHECK(to_upper('{') == '{');
  CHECK(to_upper('`') == '`');
}

TEST_CASE("texts of other lengths or letters are not equal") {
  CHECK(equal_ignoring_case("KERNEL32.dll", "kernel32.DLL"));
  CHECK(equal_ignoring_case("", ""));
  CHECK_FALSE(equal_ignoring_case("ntdll", "ntdll."));
  CHECK_FALSE(equal_ignoring_case("\xc4", "\xe4"));
  CHECK_FALSE(equal_ignoring_case("a[", "A{"));
}

}  // namespace
}  // namespace coldtrace::core
