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

// Source: Microsoft, "PE Format", characteristics.
TEST_CASE("each bit of characteristics has its name, in the order of bits") {
  CHECK(pe::dll_characteristic_names(0xffff) ==
        Names{"high_entropy_va", "dynamic_base", "force_integrity", "nx_compat", "no_isolation",
              "no_seh", "no_bind", "appcontainer", "wdm_driver", "guard_cf",
              "terminal_server_aware"});
  CHECK(pe::dll_characteristic_names(0x0400) == Names{"no_seh"});
  CHECK(pe::dll_characteristic_names(0x0800) == Names{"no_bind"});
  CHECK(pe::dll_characteristic_names(0x1000) == Names{"appcontainer"});
  CHECK(pe::dll_characteristic_names(0x2000) == Names{"wdm_driver"});
  CHECK(pe::dll_characteristic_names(0x001f).empty());
  CHECK(pe::file_characteristic_names(0x0001) == Names{"relocations_stripped"});
  CHECK(pe::file_characteristic_names(0x0008) == Names{"local_symbols_stripped"});
  CHECK(pe::file_characteristic_names(0x0800) == Names{"net_run_from_swap"});
  CHECK(pe::file_characteristic_names(0x4000) == Names{"uniprocessor_only"});
}

TEST_CASE("machines have names, and unknown ones their number") {
  CHECK(to_string(pe::Machine::i386) == "x86");
  CHECK(to_string(pe::Machine::arm64) == "arm64");
  CHECK(to_string(pe::Machine{0x1234}) == "0x1234");
}

}  // namespace
}  // namespace coldtrace
