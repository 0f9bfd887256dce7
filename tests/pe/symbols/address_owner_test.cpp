#include "coldtrace/pdb/address_owner.hpp"

#include <array>

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using pe::find_owner;
using pe::OwningModule;
using test::Opened;

// A module of 0x3000 bytes that exports a name at RVA 0x1010.
fixtures::PeSpec spec() {
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x1000);
  spec.exports = fixtures::PeExports{};
  spec.exports->entries = {{"CreateFileW", 1, 0x1010}};
  return spec;
}

TEST_CASE("an address is called by its module and the symbol before it") {
  Opened image{spec()};
  const pe::ImageTables tables{*image};
  const pe::CodeSymbols symbols{&tables, nullptr, image.findings};
  const std::array modules{
      OwningModule{"kernel32.dll", 0x7ff8'0000'0000, 0x3000, &symbols},
      OwningModule{"other.dll", 0x7ff8'0000'2000, 0x2000, nullptr},
      OwningModule{"last.dll", ~u64{0} - 0xfff, 0x1000, nullptr},
  };
  struct Row {
    const char* why;
    u64 address;
    const char* module;
    u64 offset;
    const char* symbol;
    u64 symbol_offset;
  };
  for (const auto& row : {
           Row{"at a symbol", 0x7ff8'0000'1010, "kernel32.dll", 0x1010, "CreateFileW", 0},
           {"behind a symbol", 0x7ff8'0000'1015, "kernel32.dll", 0x1015, "CreateFileW", 5},
           {"before every symbol", 0x7ff8'0000'0004, "kernel32.dll", 4, "", 0},
           {"in two modules: the first counts", 0x7ff8'0000'2004, "kernel32.dll", 0x2004, "", 0},
           {"behind the first", 0x7ff8'0000'3000, "other.dll", 0x1000, "", 0},
           {"at the end of all addresses", ~u64{0}, "last.dll", 0xfff, "", 0},
       }) {
    CAPTURE(row.why);
    const auto owner = find_owner(modules, row.address);
    REQUIRE(owner);
    CHECK(owner->module == row.module);
    CHECK(owner->offset == row.offset);
    CHECK(owner->symbol == row.symbol);
    CHECK(owner->symbol_offset == row.symbol_offset);
  }
  CHECK_FALSE(find_owner(modules, 0x7ff8'0000'4000));
  CHECK_FALSE(find_owner(modules, 0x7ff7'ffff'ffff));
  CHECK_FALSE(find_owner({}, 0));
}

}  // namespace
}  // namespace coldtrace
