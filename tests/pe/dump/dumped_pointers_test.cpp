#include "coldtrace/pe/dumped_pointers.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using pe::KnownModule;
using pe::SlotFault;
using test::Opened;

constexpr u64 base = 0x1'8000'0000;
constexpr u32 check_slot = 0x2000, memcpy_slot = 0x2008;
constexpr u64 filed = base + 0x1000;

// A module whose load configuration says where GuardCFCheckFunctionPointer (field at 112) and
// GuardMemcpyFunctionPointer (at 312) are: in .data, with a function of .text in both.
fixtures::PeSpec spec() {
  fixtures::PeSpec made;
  made.sections[0].content.assign(0x40, std::byte{0xc3});
  made.sections.push_back(
      {.name = ".data",
       .characteristics = 0xc000'0040,
       .content = fixtures::ByteWriter{}.write_u64(filed).write_u64(filed).bytes()});
  made.exports = fixtures::PeExports{"some.dll", 1, {{"Function", 1, 0x1000}}};
  fixtures::ByteWriter config;
  config.write_u32(320).pad_to(112).write_u64(base + check_slot);
  made.load_config = config.pad_to(312).write_u64(base + memcpy_slot).bytes();
  made.relocations = {{check_slot, 10}, {memcpy_slot, 10}};
  return made;
}

// What is said of the module with `address` in the slot at `slot`.
std::vector<pe::MisdirectedPointer> read(const fixtures::PeSpec& of, u32 slot, u64 address,
                                         const std::vector<KnownModule>& known,
                                         const std::vector<u64>& imported = {}) {
  const auto built = fixtures::build_pe(of);
  Opened image{built};
  REQUIRE(image);
  const pe::ImageTables tables{*image};
  auto memory = fixtures::as_loaded(built);
  const auto bytes = std::as_bytes(std::span{&address, 1});
  std::copy(bytes.begin(), bytes.end(), memory.begin() + slot);
  const core::ByteView view{memory};
  const auto dump =
      pe::ModuleDump::open(tables, view, {pe::Layout::memory, std::nullopt}, image.findings);
  REQUIRE(dump);
  return pe::read_dumped_pointers(tables, *dump, known, imported);
}

const KnownModule ntdll{"C:\\Windows\\System32\\ntdll.dll", 0x7ff8'0000'0000, 0x20'0000};
const KnownModule other{"other.dll", 0x7ff8'1000'0000, 0x1000};

TEST_CASE("a pointer of the load configuration leads to the file's function or to ntdll") {
  struct Row {
    const char* why;
    u64 address;
    std::vector<KnownModule> known;
    std::vector<u64> imported;
    std::optional<SlotFault> fault;
  };
  const auto row = GENERATE(values<Row>({
      {"as in the file", filed, {ntdll}, {}, {}},
      {"ntdll", ntdll.base + 0x1234, {ntdll, other}, {}, {}},
      {"the last byte of ntdll", ntdll.base + ntdll.size - 1, {ntdll}, {}, {}},
      {"behind ntdll", ntdll.base + ntdll.size, {ntdll}, {}, SlotFault::outside},
      {"another module", other.base + 0x10, {ntdll, other}, {}, SlotFault::other},
      {"another module, and ntdll is not known", other.base, {other}, {}, SlotFault::other},
      {"no module", 0x1'0000, {ntdll}, {}, SlotFault::outside},
      {"another function of its own", filed + 0x10, {ntdll}, {}, SlotFault::inside},
      {"its data", base + check_slot, {ntdll}, {}, SlotFault::inside},
      {"zero", 0, {ntdll}, {}, SlotFault::zero},
      {"nothing is known", 0x7ff8'0000'1234, {}, {}, {}},
      {"near what is imported", 0x7ff8'0000'1234, {}, {0x7ff8'0100'0000}, {}},
      {"far from what is imported",
       0x1f'0000'0000,
       {},
       {0x7ff8'0100'0000, 0x7ff8'0200'0000},
       SlotFault::alone},
  }));
  CAPTURE(row.why);
  const auto found = read(spec(), check_slot, row.address, row.known, row.imported);
  REQUIRE(found.size() == (row.fault ? 1 : 0));
  if (!row.fault) return;
  CHECK(found[0].name == "GuardCFCheckFunctionPointer");
  CHECK(found[0].slot == pe::Rva{check_slot});
  CHECK(found[0].address == row.address);
  CHECK(found[0].fault == *row.fault);
}

TEST_CASE("a module may use a copy function of its own, but nothing that is no code") {
  CHECK(read(spec(), memcpy_slot, filed + 0x10, {ntdll}).empty());
  const auto data = read(spec(), memcpy_slot, base + check_slot, {ntdll});
  REQUIRE(data.size() == 1);
  CHECK(data[0].name == "GuardMemcpyFunctionPointer");
  CHECK(data[0].fault == SlotFault::inside);
}

TEST_CASE("ntdll may lead to functions of its own") {
  auto made = spec();
  made.exports->module_name = "ntdll.dll";
  CHECK(read(made, check_slot, filed + 0x10, {}).empty());
}

TEST_CASE("a module without a load configuration, or with one that is damaged, has no pointers") {
  auto none = spec();
  none.load_config.clear();
  CHECK(read(none, check_slot, 0x1'0000, {ntdll}).empty());
  auto outside = spec();
  outside.directories = {{10, {0x7000'0000, 320}}};
  CHECK(read(outside, check_slot, 0x1'0000, {ntdll}).empty());
  auto wild = spec();
  fixtures::ByteWriter config;
  wild.load_config = config.write_u32(~u32{0}).pad_to(112).write_u64(~u64{0}).bytes();
  CHECK(read(wild, check_slot, 0x1'0000, {ntdll}).empty());
}

}  // namespace
}  // namespace coldtrace
