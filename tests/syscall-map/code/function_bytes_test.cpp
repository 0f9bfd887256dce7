#include "coldtrace/syscall-map/function_bytes.hpp"

#include "tests/syscall-map/code/code_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;

// One character a byte: '.' says something in another build, others say why not.
std::string wildcards(const FunctionBytes& function) {
  std::string text;
  for (const auto& byte : function.bytes) switch (byte.wildcard) {
      case Wildcard::none:
        text += '.';
        break;
      case Wildcard::relocation:
        text += 'r';
        break;
      case Wildcard::branch:
        text += 'b';
        break;
      case Wildcard::address:
        text += 'a';
        break;
      case Wildcard::differences:
        text += 'd';
        break;
    }
  return text;
}

fixtures::PeSpec with_data(fixtures::PeSpec spec) {
  spec.sections.push_back({.name = ".data", .characteristics = 0xc0000040});  // at 2000
  return spec;
}

TEST_CASE("a function without an entry in .pdata ends where no branch leads beyond") {
  struct Row {
    const char* code;
    fixtures::Bytes bytes;
    std::size_t size;
  };
  const Row rows[] = {
      {"ret; nop", to_bytes({0xc3, 0x90}), 1},
      {"ret 8; nop", to_bytes({0xc2, 8, 0, 0x90}), 3},
      {"jmp rax; nop", to_bytes({0xff, 0xe0, 0x90}), 2},
      {"int3; nop", to_bytes({0xcc, 0x90}), 1},
      {"ud2; nop", to_bytes({0x0f, 0x0b, 0x90}), 2},
      {"call 1006; ret; nop", to_bytes({0xe8, 1, 0, 0, 0, 0xc3, 0x90}), 6},
      {"je 1003; ret; ret; nop", to_bytes({0x74, 1, 0xc3, 0xc3, 0x90}), 4},
      {"jmp 1003; int3; ret; nop", to_bytes({0xeb, 1, 0xcc, 0xc3, 0x90}), 4},
      {"je 1005; je 1004; ret; ret; nop", to_bytes({0x74, 3, 0x74, 0, 0xc3, 0xc3, 0x90}), 6},
      {"nop; jmp 1000; nop", to_bytes({0x90, 0xeb, 0xfd, 0x90}), 3},
      {"jmp 4096 bytes on; nop", to_bytes({0xe9, 0xfb, 0x0f, 0, 0, 0x90}), 5},
  };
  for (const auto& row : rows) {
    CAPTURE(row.code);
    for (const bool x64 : {true, false}) {
      CAPTURE(x64);
      auto code = row.bytes;
      code.resize(0x2000, std::byte{0x90});
      const CodeImage image{code_spec(code, {}, x64)};
      const auto function = FunctionReader{image.tables}.read(pe::Rva{0x1000});
      CHECK(function.whole);
      CHECK(function.bytes.size() == row.size);
      std::size_t sum = 0;
      for (const auto size : function.instructions) sum += size;
      CHECK(sum == row.size);
    }
  }
}

TEST_CASE("a function of .pdata is as long as it says, and one behind it is none of it") {
  const auto code = to_bytes({0x90, 0xc3, 0x90, 0x90, 0x90, 0x90, 0xc3, 0x90});
  const CodeImage x64{code_spec(code, {{0x1000, 0x1004, 0x1004}})};
  const FunctionReader reader{x64.tables};
  CHECK(reader.read(pe::Rva{0x1000}).bytes.size() == 4);
  CHECK(reader.read(pe::Rva{0x1000}).whole);
  CHECK(reader.read(pe::Rva{0x1002}).bytes.size() == 2);
  CHECK(reader.read(pe::Rva{0x1004}).bytes.size() == 3);
}

TEST_CASE("no more than 256 bytes of a function are read, and whole instructions") {
  auto code = fixtures::Bytes(300, std::byte{0x90});
  const auto size = GENERATE(255U, 256U, 257U);
  CAPTURE(size);
  code[size - 1] = std::byte{0xc3};
  const CodeImage image{code_spec(code)};
  const auto function = FunctionReader{image.tables}.read(pe::Rva{0x1000});
  CHECK(function.bytes.size() == std::min<std::size_t>(size, 256));
  CHECK(function.whole == (size <= 256));
}

TEST_CASE("a function is not whole where bytes are not an instruction") {
  const auto code = to_bytes({0x90, 0x06, 0xc3});  // nop; push es, which x64 has not; ret
  for (const auto& spec : {code_spec(code), code_spec(code, {{0x1000, 0x1003, 0x1004}})}) {
    const CodeImage image{spec};
    const auto function = FunctionReader{image.tables}.read(pe::Rva{0x1000});
    CHECK(function.bytes.size() == 1);
    CHECK_FALSE(function.whole);
    CHECK(FunctionReader{image.tables}.read(pe::Rva{0x1001}).bytes.empty());
  }
}

TEST_CASE("what code of x64 says of places outside of the function says nothing in another build") {
  struct Row {
    const char* code;  // at 1010, and a ret
    fixtures::Bytes bytes;
    std::string wanted;
  };
  const Row rows[] = {
      {"mov rax, [2000h]", to_bytes({0x48, 0x8b, 0x05, 0xe9, 0x0f, 0, 0}), "...aaaa."},
      {"cmp byte ptr [2000h], 1", to_bytes({0x80, 0x3d, 0xe9, 0x0f, 0, 0, 1}), "..aaaa.."},
      {"mov eax, [rax+rcx*4+2000h], a switch's table",
       to_bytes({0x8b, 0x84, 0x88, 0x00, 0x20, 0, 0}), "...aaaa."},
      {"mov eax, [rax+rcx*4+7000h], which no section has",
       to_bytes({0x8b, 0x84, 0x88, 0x00, 0x70, 0, 0}), "........"},
      {"mov eax, [rax+rcx*4-8]", to_bytes({0x8b, 0x84, 0x88, 0xf8, 0xff, 0xff, 0xff}), "........"},
      {"mov eax, [rcx+2000h]", to_bytes({0x8b, 0x81, 0x00, 0x20, 0, 0}), "......."},
      {"mov eax, [rcx*4+2000h]", to_bytes({0x8b, 0x04, 0x8d, 0x00, 0x20, 0, 0}), "........"},
      {"mov eax, [rax+rcx*4+10h]", to_bytes({0x8b, 0x44, 0x88, 0x10}), "....."},
      {"mov eax, 402000h", to_bytes({0xb8, 0x00, 0x20, 0x40, 0}), "......"},
      {"call 1000", to_bytes({0xe8, 0xeb, 0xff, 0xff, 0xff}), ".bbbb."},
      {"call 1010", to_bytes({0xe8, 0xfb, 0xff, 0xff, 0xff}), "......"},
      {"call 1015", to_bytes({0xe8, 0, 0, 0, 0}), "......"},
      {"call 1016, behind the ret", to_bytes({0xe8, 1, 0, 0, 0}), ".bbbb."},
      {"call out of the image", to_bytes({0xe8, 0, 0, 0, 0x30}), ".bbbb."},
      {"mov [2000h], 402000h", to_bytes({0xc7, 0x05, 0xe6, 0x0f, 0, 0, 0x00, 0x20, 0x40, 0}),
       "..aaaa....."},
  };
  for (const auto& row : rows) {
    CAPTURE(row.code);
    auto code = fixtures::Bytes(0x10, std::byte{0xcc});
    code.insert(code.end(), row.bytes.begin(), row.bytes.end());
    code.push_back(std::byte{0xc3});
    const CodeImage image{with_data(code_spec(code))};
    CHECK(wildcards(FunctionReader{image.tables}.read(pe::Rva{0x1010})) == row.wanted);
  }
}

TEST_CASE("addresses of x86 are what relocations say, or where there are none what lies inside") {
  struct Row {
    const char* code;  // at 1010, and a ret
    fixtures::Bytes bytes;
    std::string stripped;          // without any relocation
    std::vector<u32> relocations;  // highlow
    std::string relocated;
  };
  const Row rows[] = {
      {"mov eax, [402000h]",
       to_bytes({0x8b, 0x05, 0x00, 0x20, 0x40, 0}),
       "..aaaa.",
       {0x1012},
       "..rrrr."},
      {"mov eax, [ecx*4+402000h]",
       to_bytes({0x8b, 0x04, 0x8d, 0x00, 0x20, 0x40, 0}),
       "...aaaa.",
       {0x1013},
       "...rrrr."},
      {"mov eax, [702000h]",
       to_bytes({0x8b, 0x05, 0x00, 0x20, 0x70, 0}),
       ".......",
       {0x100c},
       "......."},
      {"mov eax, 402000h", to_bytes({0xb8, 0x00, 0x20, 0x40, 0}), ".aaaa.", {0x1011}, ".rrrr."},
      {"mov eax, 402000h, which has none",
       to_bytes({0xb8, 0x00, 0x20, 0x40, 0}),
       ".aaaa.",
       {0x100c},
       "......"},
      {"mov eax, [402000h], which has none",
       to_bytes({0x8b, 0x05, 0x00, 0x20, 0x40, 0}),
       "..aaaa.",
       {0x100c},
       "......."},
      {"mov eax, 5", to_bytes({0xb8, 5, 0, 0, 0}), "......", {0x1016}, "......"},
      {"mov [402000h], 402000h",
       to_bytes({0xc7, 0x05, 0x00, 0x20, 0x40, 0, 0x00, 0x20, 0x40, 0}),
       "..aaaaaaaa.",
       {0x1012, 0x1016},
       "..rrrrrrrr."},
      {"mov ax, 2000h", to_bytes({0x66, 0xb8, 0x00, 0x20}), ".....", {0x1010}, "rrrr."},
  };
  for (const auto& row : rows) {
    CAPTURE(row.code);
    auto code = fixtures::Bytes(0x10, std::byte{0xcc});
    code.insert(code.end(), row.bytes.begin(), row.bytes.end());
    code.push_back(std::byte{0xc3});
    auto spec = with_data(code_spec(code, {}, false));
    const CodeImage stripped{spec};
    CHECK(wildcards(FunctionReader{stripped.tables}.read(pe::Rva{0x1010})) == row.stripped);
    for (const auto place : row.relocations) spec.relocations.push_back({place, 3});
    const CodeImage relocated{spec};
    CHECK(wildcards(FunctionReader{relocated.tables}.read(pe::Rva{0x1010})) == row.relocated);
  }
}

}  // namespace
}  // namespace coldtrace
