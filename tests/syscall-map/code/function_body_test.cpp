#include "syscall-map/code/function_body.hpp"

#include "tests/syscall-map/code/code_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;
using Kind = FlowInstruction::Kind;

TEST_CASE("an instruction goes on, branches, calls or ends") {
  struct Row {
    const char* code;
    fixtures::Bytes bytes;
    Kind kind;
    bool short_form = false;
  };
  const Row rows[] = {
      {"nop", to_bytes({0x90}), Kind::plain},
      {"mov eax, 1", to_bytes({0xb8, 1, 0, 0, 0}), Kind::plain},
      {"int 2eh", to_bytes({0xcd, 0x2e}), Kind::plain, true},
      {"call 1015", to_bytes({0xe8, 0x10, 0, 0, 0}), Kind::call},
      {"call rax", to_bytes({0xff, 0xd0}), Kind::call},
      {"je 1012", to_bytes({0x74, 0x10}), Kind::conditional, true},
      {"je 1016", to_bytes({0x0f, 0x84, 0x10, 0, 0, 0}), Kind::conditional},
      {"loop 1000", to_bytes({0xe2, 0xfe}), Kind::conditional, true},
      {"jmp 1012", to_bytes({0xeb, 0x10}), Kind::jump, true},
      {"jmp 1015", to_bytes({0xe9, 0x10, 0, 0, 0}), Kind::jump},
      {"jmp rax", to_bytes({0xff, 0xe0}), Kind::jump},
      {"ret", to_bytes({0xc3}), Kind::end},
      {"ret 8", to_bytes({0xc2, 8, 0}), Kind::end},
      {"iretd", to_bytes({0xcf}), Kind::end},
      {"sysret", to_bytes({0x0f, 0x07}), Kind::end},
      {"int3", to_bytes({0xcc}), Kind::end},
      {"ud2", to_bytes({0x0f, 0x0b}), Kind::end},
      {"hlt", to_bytes({0xf4}), Kind::end},
  };
  for (const auto& row : rows) {
    CAPTURE(row.code);
    const CodeImage image{code_spec(row.bytes)};
    const auto instruction = image.disassembler.decode(pe::Rva{0x1000});
    REQUIRE(instruction);
    const auto flow = to_flow(image.disassembler, *instruction);
    CHECK(flow.kind == row.kind);
    CHECK(flow.short_form == row.short_form);
    CHECK(flow.length == row.bytes.size());
  }
}

using Places = std::vector<u32>;

Places places(const FunctionBody& body) {
  Places places;
  for (const auto& [rva, flow] : body.instructions()) places.push_back(value(rva));
  return places;
}

TEST_CASE("a function's code is what direct branches lead to, and ends where nothing follows") {
  struct Row {
    const char* code;  // at 0x1000
    fixtures::Bytes bytes;
    Places wanted;
    u32 end;
  };
  const Row rows[] = {
      {"ret; nop", to_bytes({0xc3, 0x90}), {0x1000}, 0x1001},
      {"jmp rax; nop", to_bytes({0xff, 0xe0, 0x90}), {0x1000}, 0x1002},
      {"jmp 1003; int3; ret", to_bytes({0xeb, 0x01, 0xcc, 0xc3}), {0x1000, 0x1003}, 0x1002},
      {"je 1003; ret; nop; ret",
       to_bytes({0x74, 0x01, 0xc3, 0x90, 0xc3}),
       {0x1000, 0x1002, 0x1003, 0x1004},
       0x1005},
      {"call 1006; ret; nop", to_bytes({0xe8, 1, 0, 0, 0, 0xc3, 0x90}), {0x1000, 0x1005}, 0x1006},
      {"nop; jmp 1000", to_bytes({0x90, 0xeb, 0xfd}), {0x1000, 0x1001}, 0x1003},
      {"nop; push es, which x64 has not", to_bytes({0x90, 0x06, 0xc3}), {0x1000}, 0x1001},
      {"jmp to data", to_bytes({0xe9, 0xfb, 0x0f, 0, 0}), {0x1000}, 0x1005},
  };
  for (const auto& row : rows) {
    CAPTURE(row.code);
    auto spec = code_spec(row.bytes);
    spec.sections.push_back({.name = ".data", .characteristics = 0xc0000040});
    const CodeImage image{spec};
    const FunctionBody body{image.code, image.disassembler, pe::Rva{0x1000}};
    CHECK(places(body) == row.wanted);
    CHECK(value(body.end()) == row.end);
  }
}

TEST_CASE("jumps to other functions are not followed") {
  // je 1008; je 1010; jmp 1000; at 1008, 1010 and 1018 ret.
  auto code = to_bytes({0x74, 0x06, 0x74, 0x0c, 0x74, 0x12, 0xeb, 0xf8});
  code.resize(0x20, std::byte{0xc3});
  auto spec = code_spec(code, {{0x1000, 0x1008, 0x2000}, {0x1010, 0x1018, 0x2000}});
  spec.sections.push_back({.name = ".rdata", .characteristics = 0x40000040});
  spec.sections.back().content = to_bytes({1, 0, 0, 0});
  SECTION("of .pdata") {
    const CodeImage image{spec};
    const FunctionBody body{image.code, image.disassembler, pe::Rva{0x1000}};
    CHECK(places(body) == Places{0x1000, 0x1002, 0x1004, 0x1006, 0x1008, 0x1018});
  }
  SECTION("parts of which .pdata has are followed") {
    spec.sections.back().content = to_bytes({0x21, 0, 0, 0});  // UNW_FLAG_CHAININFO
    const CodeImage image{spec};
    const FunctionBody body{image.code, image.disassembler, pe::Rva{0x1000}};
    CHECK(places(body) == Places{0x1000, 0x1002, 0x1004, 0x1006, 0x1008, 0x1010, 0x1018});
  }
  SECTION("of the export directory") {
    spec.exports.emplace();
    spec.exports->entries = {{.name = "Entry", .address = 0x1000},
                             {.name = "Other", .ordinal = 2, .address = 0x1018}};
    const CodeImage image{spec};
    const FunctionBody body{image.code, image.disassembler, pe::Rva{0x1000}};
    CHECK(places(body) == Places{0x1000, 0x1002, 0x1004, 0x1006, 0x1008});
  }
}

TEST_CASE("a function reaches at least as far as .pdata says") {
  const auto code = to_bytes({0x90, 0x90, 0x90, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc});
  const auto end = GENERATE(0x1001U, 0x1004U, 0x1007U);
  const CodeImage image{code_spec(code, {{0x1000, end, 0x1004}})};
  const FunctionBody body{image.code, image.disassembler, pe::Rva{0x1000}};
  CHECK(value(body.end()) == std::max(end, 0x1004U));
  CHECK(body.instructions().size() == 4);
}

TEST_CASE("of a function 4096 instructions are read") {
  auto code = fixtures::Bytes(5000, std::byte{0x90});
  code[0] = std::byte{0x74};  // je 1080
  code[1] = std::byte{0x7e};
  const CodeImage image{code_spec(code)};
  const FunctionBody body{image.code, image.disassembler, pe::Rva{0x1000}};
  CHECK(body.instructions().size() == 4096);
  CHECK(value(body.end()) == 0x1000 + 4097);
}

}  // namespace
}  // namespace coldtrace
