#include "syscall-map/stubs/entry_code.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/pe_image.hpp"

namespace coldtrace {
namespace {

using fixtures::to_bytes;
using Kind = syscall_map::EntryCode::Kind;

struct Row {
  const char* code;  // what a disassembler shows
  fixtures::Bytes bytes;
  Kind kind;
};

// A section of code at RVA 0x1000, one of data at 0x2000; import slots at 0x2000.
syscall_map::EntryCode classify(bool wide, const fixtures::Bytes& code, u32 rva = 0x1000) {
  fixtures::PeSpec spec;
  spec.pe32_plus = wide;
  spec.machine = wide ? 0x8664 : 0x014c;
  spec.image_base = 0x10000000;
  spec.sections[0].content = code;
  spec.sections[0].content.resize(0x200, std::byte{0x90});
  auto data = to_bytes({0, 0, 0,    0,    0,    0,    0,    0,    0x00, 0x11, 0x00, 0x10, 0, 0,
                        0, 0, 0x00, 0x11, 0x00, 0x70, 0,    0,    0,    0,    0,    0,    0, 0,
                        0, 0, 0,    0,    0x00, 0x11, 0x00, 0x10, 0xf8, 0x7f, 0,    0});
  spec.sections.push_back({.name = ".data", .characteristics = 0xc0000040, .content = data});
  const auto file = fixtures::build_pe(spec);
  core::Findings findings;
  const auto image = pe::Image::open(file.bytes, pe::Layout::file, findings);
  REQUIRE(image);
  return syscall_map::classify_entry(*image, pe::Rva{rva}, [](pe::Rva slot) {
    return slot == pe::Rva{0x2000} ? std::optional<std::string>{"a.dll!F"} : std::nullopt;
  });
}

TEST_CASE("x64 entries are told apart by where they lead") {
  const auto row = GENERATE(values<Row>({
      {"sub rsp, 28h", to_bytes({0x48, 0x83, 0xec, 0x28}), Kind::code},
      {"jmp 0x1100", to_bytes({0xe9, 0xfb, 0, 0, 0}), Kind::wrapper},
      {"jmp short 0x1010", to_bytes({0xeb, 0x0e}), Kind::wrapper},
      {"jmp 0x2005, data", to_bytes({0xe9, 0x00, 0x10, 0, 0}), Kind::hook},
      {"jmp 0x10001005, outside", to_bytes({0xe9, 0, 0, 0, 0x10}), Kind::hook},
      {"jmp [0x2000], an import", to_bytes({0xff, 0x25, 0xfa, 0x0f, 0, 0}), Kind::import_thunk},
      {"jmp [0x2008], inside", to_bytes({0xff, 0x25, 0x02, 0x10, 0, 0}), Kind::wrapper},
      {"jmp [0x2010], outside", to_bytes({0xff, 0x25, 0x0a, 0x10, 0, 0}), Kind::hook},
      {"jmp [0x2018], set at run time", to_bytes({0xff, 0x25, 0x12, 0x10, 0, 0}), Kind::code},
      {"jmp [0x2020], outside by its upper half", to_bytes({0xff, 0x25, 0x1a, 0x10, 0, 0}),
       Kind::hook},
      {"mov rax, 10002000h; jmp [rax], an import",
       to_bytes({0x48, 0xb8, 0x00, 0x20, 0, 0x10, 0, 0, 0, 0, 0xff, 0x20}), Kind::import_thunk},
      {"mov rax, 10002000h; jmp [rax+8], inside",
       to_bytes({0x48, 0xb8, 0x00, 0x20, 0, 0x10, 0, 0, 0, 0, 0xff, 0x60, 0x08}), Kind::wrapper},
      {"mov rax, 7ff8...; jmp [rax], outside",
       to_bytes({0x48, 0xb8, 0, 0, 0x45, 0x23, 0xf8, 0x7f, 0, 0, 0xff, 0x20}), Kind::hook},
      {"mov rax, 7ff8...; jmp [rcx]",
       to_bytes({0x48, 0xb8, 0, 0, 0x45, 0x23, 0xf8, 0x7f, 0, 0, 0xff, 0x21}), Kind::code},
      {"mov rax, 10002000h; jmp [rax+rcx]",
       to_bytes({0x48, 0xb8, 0x00, 0x20, 0, 0x10, 0, 0, 0, 0, 0xff, 0x24, 0x08}), Kind::code},
      {"jmp [rcx+8], of the caller", to_bytes({0xff, 0x61, 0x08}), Kind::code},
      {"push rax; ret", to_bytes({0x50, 0xc3}), Kind::code},
      {"nop; nop; nop; jmp outside", to_bytes({0x90, 0x90, 0x90, 0xe9, 0, 0, 0, 0x20}), Kind::hook},
      {"nop; nop; nop; nop; jmp outside", to_bytes({0x90, 0x90, 0x90, 0x90, 0xe9, 0, 0, 0, 0x20}),
       Kind::code},
      {"mov rax, 7ff8...; jmp rax",
       to_bytes({0x48, 0xb8, 0, 0, 0x45, 0x23, 0xf8, 0x7f, 0, 0, 0xff, 0xe0}), Kind::hook},
      {"mov r10, rcx; mov eax, 5; jmp outside",
       to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 5, 0, 0, 0, 0xe9, 0, 0, 0, 0x20}), Kind::hook},
      {"push 70001100; ret", to_bytes({0x68, 0x00, 0x11, 0x00, 0x70, 0xc3}), Kind::hook},
      {"push 10001100; ret, inside", to_bytes({0x68, 0x00, 0x11, 0x00, 0x10, 0xc3}), Kind::wrapper},
      {"int3", to_bytes({0xcc}), Kind::breakpoint},
      {"int 3", to_bytes({0xcd, 0x03}), Kind::breakpoint},
      {"int 2eh", to_bytes({0xcd, 0x2e}), Kind::code},
      {"not an instruction", to_bytes({0x06}), Kind::code},
      {"jmp rax, of the caller", to_bytes({0xff, 0xe0}), Kind::code},
      {"mov eax, 10002000h; jmp [rax], an import",
       to_bytes({0xb8, 0x00, 0x20, 0, 0x10, 0xff, 0x20}), Kind::import_thunk},
      {"mov eax, 23450000h; jmp rax", to_bytes({0xb8, 0, 0, 0x45, 0x23, 0xff, 0xe0}), Kind::hook},
      {"mov ax, 2000h; jmp rax", to_bytes({0x66, 0xb8, 0x00, 0x20, 0xff, 0xe0}), Kind::code},
      {"mov rax, 10002000h; mov rax, rcx; jmp [rax]",
       to_bytes({0x48, 0xb8, 0x00, 0x20, 0, 0x10, 0, 0, 0, 0, 0x48, 0x89, 0xc8, 0xff, 0x20}),
       Kind::code},
  }));
  CAPTURE(row.code);
  CHECK(classify(true, row.bytes).kind == row.kind);
}

TEST_CASE("x86 jumps through absolute addresses") {
  const auto row = GENERATE(values<Row>({
      {"jmp [10002000], an import", to_bytes({0xff, 0x25, 0x00, 0x20, 0x00, 0x10}),
       Kind::import_thunk},
      {"jmp [10002008], inside", to_bytes({0xff, 0x25, 0x08, 0x20, 0x00, 0x10}), Kind::wrapper},
      {"jmp [70000000], outside", to_bytes({0xff, 0x25, 0, 0, 0, 0x70}), Kind::hook},
      {"jmp 0x1100", to_bytes({0xe9, 0xfb, 0, 0, 0}), Kind::wrapper},
      {"jmp backwards out of the image", to_bytes({0xe9, 0xfb, 0xff, 0xff, 0x8f}), Kind::hook},
      {"mov eax, 10002000h; jmp [eax], an import",
       to_bytes({0xb8, 0x00, 0x20, 0, 0x10, 0xff, 0x20}), Kind::import_thunk},
      {"mov eax, f0002000h; jmp [eax+20000000h], an import",
       to_bytes({0xc7, 0xc0, 0x00, 0x20, 0, 0xf0, 0xff, 0xa0, 0, 0, 0, 0x20}), Kind::import_thunk},
      {"mov eax, 10001100h; jmp ax", to_bytes({0xb8, 0x00, 0x11, 0, 0x10, 0x66, 0xff, 0xe0}),
       Kind::code},
  }));
  CAPTURE(row.code);
  CHECK(classify(false, row.bytes).kind == row.kind);
}

TEST_CASE("of other machines code is told from data alone") {
  fixtures::PeSpec spec;
  spec.machine = 0xaa64;
  spec.sections[0].content = to_bytes({0, 0, 0x02, 0x14});  // b 0x81000
  const auto file = fixtures::build_pe(spec);
  core::Findings findings;
  const auto image = pe::Image::open(file.bytes, pe::Layout::file, findings);
  REQUIRE(image);
  const auto entry = syscall_map::classify_entry(*image, pe::Rva{0x1000}, {});
  CHECK(entry.kind == Kind::code);
  CHECK(entry.description == "code");
}

TEST_CASE("what is not executable is data") {
  CHECK(classify(true, {}, 0x2000).kind == Kind::data);
  CHECK(classify(true, {}, 0x9000).kind == Kind::data);
}

}  // namespace
}  // namespace coldtrace
