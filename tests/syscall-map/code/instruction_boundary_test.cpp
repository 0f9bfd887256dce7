#include "syscall-map/code/instruction_boundary.hpp"

#include "tests/syscall-map/code/code_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;
using State = BoundaryState;
using Places = std::vector<pe::Rva>;

// What stands at 1000, with a byte that no branch leads to.
const auto function_code = to_bytes({
    0xb8, 0x05, 0x00, 0x00, 0x00,  // 1000 mov eax, 5
    0x74, 0x02,                    // 1005 je 1009
    0x90,                          // 1007 nop
    0xc3,                          // 1008 ret
    0xeb, 0x01,                    // 1009 jmp 100c
    0xb8,                          // 100b
    0xc3,                          // 100c ret
    0xcc, 0xcc, 0xcc,              // 100d
    0xc3,                          // 1010 ret
    0x06,                          // 1011, no instruction of x64
    0x90,                          // 1012 nop
});

fixtures::Bytes code_of(std::size_t size) {
  auto code = function_code;
  code.resize(size, std::byte{0xcc});
  return code;
}

struct Row {
  u32 rva;
  State state;
  std::vector<std::string> evidence;
  std::optional<u32> function;
  std::string name = {};
};

void check(BoundaryProver& prover, const Row& row) {
  CAPTURE(row.rva);
  const auto boundary = prover.examine(pe::Rva{row.rva});
  CHECK(to_string(boundary.state) == to_string(row.state));
  CHECK(boundary.evidence == row.evidence);
  CHECK(boundary.function.has_value() == row.function.has_value());
  if (boundary.function && row.function) CHECK(value(*boundary.function) == *row.function);
  CHECK(boundary.function_name == row.name);
}

TEST_CASE("an instruction begins where the code of a function of .pdata has one") {
  const CodeImage image{
      code_spec(code_of(0x20), {{0x1000, 0x1010, 0x1012}, {0x1010, 0x1018, 0x1012}})};
  BoundaryProver prover{image.code,
                        image.disassembler,
                        {{pe::Rva{0x1010}, "Second", "PDB"},
                         {pe::Rva{0x1000}, "First", "export directory"},
                         {pe::Rva{0x1000}, "Alias", "PDB"},
                         {pe::Rva{0x1009}, "Middle", "PDB"},
                         {pe::Rva{0x1002}, "Inside", "PDB"}}};
  const std::string at_1000 = "the code of the function of .pdata at 0x1000 has an instruction ";
  const auto nothing_leads = [](const char* function, const char* found) {
    return fmt::format(
        "no direct branch of the function of .pdata at {} leads there; the list of instructions "
        "from there on {}, which proves nothing if tables lie between code",
        function, found);
  };
  const Row rows[] = {
      {0x1000, State::proved, {"a function begins there, as .pdata says"}, 0x1000, "First"},
      {0x1001,
       State::refuted,
       {at_1000 + "of 5 bytes at 0x1000, which covers it"},
       0x1000,
       "First"},
      {0x1002,
       State::unknown,
       {at_1000 + "of 5 bytes at 0x1000, which covers it", "Inside begins there, as the PDB says"},
       0x1000,
       "First"},
      {0x1004,
       State::refuted,
       {at_1000 + "of 5 bytes at 0x1000, which covers it"},
       0x1000,
       "First"},
      {0x1005, State::proved, {at_1000 + "there"}, 0x1000, "First"},
      {0x1006,
       State::refuted,
       {at_1000 + "of 2 bytes at 0x1005, which covers it"},
       0x1000,
       "First"},
      {0x1007, State::proved, {at_1000 + "there"}, 0x1000, "First"},
      {0x1009, State::proved, {at_1000 + "there"}, 0x1000, "First"},
      {0x100b, State::unknown, {nothing_leads("0x1000", "has one there")}, 0x1000, "First"},
      {0x100c, State::proved, {at_1000 + "there"}, 0x1000, "First"},
      {0x100d,
       State::unknown,
       {nothing_leads("0x1000", "has one that covers it")},
       0x1000,
       "First"},
      {0x1010, State::proved, {"a function begins there, as .pdata says"}, 0x1010, "Second"},
      {0x1012, State::unknown, {nothing_leads("0x1010", "ends at 0x1011")}, 0x1010, "Second"},
  };
  for (const auto& row : rows) check(prover, row);
}

TEST_CASE("a part of a function belongs to what its unwind information continues") {
  fixtures::ByteWriter unwind;  // at 2000
  const auto chain = [&](u32 codes, u32 start, u32 end, u32 parent) {
    unwind.write_u8(0x21).write_u8(0).write_u8(codes).write_u8(0);  // UNW_FLAG_CHAININFO
    unwind.write_zeros((codes + codes % 2) * 2).write_u32(start).write_u32(end).write_u32(parent);
  };
  unwind.write_u32(1);                   // 2000
  unwind.write_u32(9);                   // 2004, UNW_FLAG_EHANDLER
  chain(1, 0x1000, 0x1010, 0x2000);      // 2008 to 201c
  chain(2, 0x1020, 0x1028, 0x2008);      // 201c to 2030
  chain(0, 0x1010, 0x1018, 0x2004);      // 2030 to 2040
  chain(0, 0x1000, 0x1010, 0x9000);      // 2040 to 2050, to no place
  chain(0, 0x1060, 0x1068, 0x2050);      // 2050 to 2060, to itself
  unwind.pad_to(0x1fc).write_u32(0x21);  // 21fc, cut off
  auto spec = code_spec(code_of(0x80), {{0x1000, 0x1010, 0x2000},
                                        {0x1010, 0x1018, 0x2004},
                                        {0x1020, 0x1028, 0x2008},
                                        {0x1030, 0x1038, 0x201c},
                                        {0x1040, 0x1048, 0x2030},
                                        {0x1048, 0x1050, 0x2040},
                                        {0x1050, 0x1058, 0x21fc},
                                        {0x1058, 0x1060, 0x2001},  // as another entry says
                                        {0x1060, 0x1068, 0x2050}});
  spec.sections.push_back({.name = ".rdata", .characteristics = 0x40000040});
  spec.sections.back().content = unwind.bytes();
  const CodeImage image{spec};
  BoundaryProver prover{image.code,
                        image.disassembler,
                        {{pe::Rva{0x1000}, "First", "PDB"}, {pe::Rva{0x1010}, "Second", "PDB"}}};
  const std::vector<std::string> part{"a part of a function begins there, as .pdata says"};
  const Row rows[] = {
      {0x1010, State::proved, {"a function begins there, as .pdata says"}, 0x1010, "Second"},
      {0x1020, State::proved, part, 0x1000, "First"},
      {0x1030, State::proved, part, 0x1000, "First"},
      {0x1040, State::proved, part, 0x1010, "Second"},
      {0x1048, State::proved, part, {}},
      {0x1050, State::proved, part, {}},
      {0x1058, State::proved, part, {}},
      {0x1060, State::proved, part, {}},
  };
  for (const auto& row : rows) check(prover, row);
}

TEST_CASE("without .pdata an instruction begins where the start before it leads") {
  auto code = code_of(0x40);
  const auto overlapping = to_bytes({0xeb, 0xff, 0xc0, 0xc3});  // jmp 1021; 1021: inc eax; ret
  std::copy(overlapping.begin(), overlapping.end(), code.begin() + 0x20);
  auto spec = code_spec(code, {}, false);
  spec.sections.push_back({.name = ".data", .characteristics = 0xc0000040});
  spec.relocations = {{0x1030, 3}};  // highlow
  const CodeImage image{spec};
  BoundaryProver prover{image.code,
                        image.disassembler,
                        {{pe::Rva{0x1001}, "First", "PDB"},
                         {pe::Rva{0x1020}, "Second", "export directory"},
                         {pe::Rva{0x1030}, "Third", "PDB"}}};
  const std::string first = "the code of First, which begins at 0x1001 as the PDB says, has an ";
  const std::string second =
      "the code of Second, which begins at 0x1020 as the export directory says, has an ";
  const std::vector<std::string> none{"no start of a function is known whose code leads there"};
  const std::vector<std::string> adjusted{
      "the loader adjusts the address at 0x1030, of which it is a byte"};
  const Row rows[] = {
      {0x1000, State::unknown, none, {}},
      {0x1001, State::proved, {"First begins there, as the PDB says"}, 0x1001, "First"},
      {0x1002, State::refuted, {first + "instruction of 5 bytes at 0x1001, which covers it"}, {}},
      {0x1006, State::proved, {first + "instruction there"}, 0x1001, "First"},
      {0x1012, State::unknown, none, {}},
      {0x1020,
       State::proved,
       {"Second begins there, as the export directory says"},
       0x1020,
       "Second"},
      {0x1021,
       State::unknown,
       {second + "instruction there, and one at 0x1020 that covers it"},
       {}},
      {0x1023, State::proved, {second + "instruction there"}, 0x1020, "Second"},
      {0x1030, State::refuted, adjusted, {}},
      {0x1033, State::refuted, adjusted, {}},
      {0x2000, State::unknown, none, {}},
  };
  for (const auto& row : rows) check(prover, row);
}

TEST_CASE("relocations that touch a place are told by where they begin") {
  auto spec = code_spec(code_of(0x200));
  spec.relocations = {{0x1100, 10}, {0x1110, 10}, {0x1120, 3}, {0x1130, 2}};  // dir64, highlow, low
  const CodeImage image{spec};
  const BoundaryProver prover{image.code, image.disassembler, {}};
  const auto at = [&](u32 rva, u32 size) { return prover.relocations(pe::Rva{rva}, size); };
  CHECK(at(0x10f0, 0x10).empty());
  CHECK(at(0x10f0, 0x11) == Places{pe::Rva{0x1100}});
  CHECK(at(0x1100, 1) == Places{pe::Rva{0x1100}});
  CHECK(at(0x1107, 1) == Places{pe::Rva{0x1100}});
  CHECK(at(0x1108, 8).empty());
  CHECK(at(0x1107, 10) == Places{pe::Rva{0x1100}, pe::Rva{0x1110}});
  CHECK(at(0x1123, 1) == Places{pe::Rva{0x1120}});
  CHECK(at(0x1124, 1).empty());
  CHECK(at(0x1131, 0x100) == Places{pe::Rva{0x1130}});
  CHECK(at(0x1132, 0x100).empty());
  CHECK(at(0, 8).empty());
}

}  // namespace
}  // namespace coldtrace
