#include "coldtrace/pe/header_names.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using Names = std::vector<std::string_view>;

TEST_CASE("numbers of headers have names, and unknown ones have none") {
  CHECK(pe::to_string(pe::Directory::exports) == "exports");
  CHECK(pe::to_string(pe::Directory::delay_imports) == "delay_imports");
  CHECK(pe::to_string(pe::Directory::reserved) == "reserved");
  CHECK(pe::subsystem_name(1) == "native");
  CHECK(pe::subsystem_name(16) == "boot_application");
  CHECK(pe::subsystem_name(17).empty());
  CHECK(pe::debug_type_name(2) == "codeview");
  CHECK(pe::debug_type_name(16) == "reproducible");
  CHECK(pe::debug_type_name(20) == "extended_dll_characteristics");
  CHECK(pe::debug_type_name(1000).empty());
  CHECK(pe::dll_characteristic_names(0x4180) == Names{"force_integrity", "nx_compat", "guard_cf"});
  CHECK(pe::file_characteristic_names(0x2022) ==
        Names{"executable_image", "large_address_aware", "dll"});
  CHECK(pe::section_characteristic_names(0x60000020) == Names{"code", "executable", "readable"});
  CHECK(pe::section_characteristic_names(0).empty());
}

TEST_CASE("machines have names, and unknown ones their number") {
  CHECK(to_string(pe::Machine::i386) == "x86");
  CHECK(to_string(pe::Machine::arm64) == "arm64");
  CHECK(to_string(pe::Machine{0x1234}) == "0x1234");
}

}  // namespace
}  // namespace coldtrace
