#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "syscall-map/code/disassembly.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace {

// An entry of .pdata of x64.
struct PdataEntry {
  u32 start, end, unwind;
};

// An image whose first section has code at RVA 0x1000, as far as its bytes go.
inline fixtures::PeSpec code_spec(fixtures::Bytes code,
                                  std::initializer_list<PdataEntry> functions = {},
                                  bool x64 = true) {
  fixtures::PeSpec spec;
  spec.pe32_plus = x64;
  spec.machine = x64 ? 0x8664 : 0x14c;
  spec.image_base = 0x40'0000;
  spec.sections.front().content = std::move(code);
  fixtures::ByteWriter table;
  for (const auto& [start, end, unwind] : functions)
    table.write_u32(start).write_u32(end).write_u32(unwind);
  spec.exception_table = table.bytes();
  return spec;
}

// It and what reads it, in one place: each keeps the address of the one before.
struct CodeImage {
  explicit CodeImage(const fixtures::PeSpec& spec,
                     const std::vector<syscall_map::NamedPlace>& symbols = {})
      : file{fixtures::build_pe(spec)}, tables{image}, code{tables, symbols} {}
  CodeImage(const CodeImage&) = delete;
  CodeImage& operator=(const CodeImage&) = delete;

  pe::Image open() const {
    core::Findings findings;
    auto opened = pe::Image::open(file.view(), pe::Layout::file, findings);
    REQUIRE(opened);
    return *opened;
  }

  fixtures::PeImage file;
  pe::Image image = open();
  pe::ImageTables tables;
  syscall_map::KernelCode code;
  syscall_map::Disassembler disassembler{image};
};

}  // namespace coldtrace
