#include "syscall-map/code/disassembly.hpp"

#include "tests/syscall-map/code/code_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;

struct Row {
  const char* code;  // at 0x1000, as an assembler has it
  fixtures::Bytes bytes;
  std::optional<u32> target;
};

void check(const Row& row, bool x64) {
  CAPTURE(row.code);
  const CodeImage image{code_spec(row.bytes, {}, x64)};
  const auto instruction = image.disassembler.decode(pe::Rva{0x1000});
  REQUIRE(instruction);
  CHECK(value(instruction->end()) == 0x1000 + row.bytes.size());
  const auto target = image.disassembler.branch_target(*instruction);
  REQUIRE(target.has_value() == row.target.has_value());
  if (target) CHECK(value(*target) == *row.target);
}

TEST_CASE("direct branches have a target inside the image, and nothing else has one") {
  const Row rows[] = {
      {"jmp 1002", {to_bytes({0xeb, 0x00})}, 0x1002},
      {"jmp 1000", {to_bytes({0xe9, 0xfb, 0xff, 0xff, 0xff})}, 0x1000},
      {"call 1005", {to_bytes({0xe8, 0x00, 0x00, 0x00, 0x00})}, 0x1005},
      {"jne 1016", {to_bytes({0x0f, 0x85, 0x10, 0x00, 0x00, 0x00})}, 0x1016},
      {"loop 1000", {to_bytes({0xe2, 0xfe})}, 0x1000},
      {"jmp out of the image", {to_bytes({0xe9, 0x00, 0x00, 0x00, 0x10})}, {}},
      {"jmp rax", {to_bytes({0xff, 0xe0})}, {}},
      {"push 401000h", {to_bytes({0x68, 0x00, 0x10, 0x40, 0x00})}, {}},
      {"ret", {to_bytes({0xc3})}, {}},
  };
  for (const auto& row : rows) {
    check(row, true);
    check(row, false);
  }
  check({"jmp [rip], of which 1006 is the pointer", to_bytes({0xff, 0x25, 0, 0, 0, 0}), {}}, true);
  check({"call [401000h]", to_bytes({0xff, 0x15, 0x00, 0x10, 0x40, 0x00}), {}}, false);
}

TEST_CASE("a memory operand without registers or relative to rip names an address, others do not") {
  const CodeImage x64{code_spec(to_bytes({0x48, 0x8b, 0x05, 0x10, 0, 0, 0,  // mov rax, [rip+10h]
                                          0x48, 0x8b, 0x41, 0x10}))};       // mov rax, [rcx+10h]
  const auto first = x64.disassembler.decode(pe::Rva{0x1000});
  const auto second = x64.disassembler.decode(pe::Rva{0x1007});
  REQUIRE((first && second));
  CHECK(x64.disassembler.address(*first, first->operands[1]) == 0x401017U);
  CHECK(x64.disassembler.address(*first, first->operands[0]) == std::nullopt);
  CHECK(x64.disassembler.address(*second, second->operands[1]) == std::nullopt);
}

TEST_CASE("what is not an instruction, or ends before it does, is not decoded") {
  const CodeImage image{code_spec(to_bytes({0x06}))};  // push es, of x86 alone
  CHECK_FALSE(image.disassembler.decode(pe::Rva{0x1000}));
  CHECK_FALSE(image.disassembler.decode(pe::Rva{0x9000}));
  auto spec = code_spec(fixtures::Bytes(0x200, std::byte{0x90}));
  spec.sections.front().content.back() = std::byte{0xe8};
  const CodeImage cut{spec};
  CHECK(cut.disassembler.decode(pe::Rva{0x11fe}));
  CHECK_FALSE(cut.disassembler.decode(pe::Rva{0x11ff}));
}

}  // namespace
}  // namespace coldtrace
