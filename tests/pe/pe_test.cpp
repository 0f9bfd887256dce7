#include "tests/pe/pe_test.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include "fixtures/builders/byte_writer.hpp"

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};
std::size_t floor_of_peak = 0;

}  // namespace

// Counts what this program allocates: the bound that a hostile file must not exceed.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (!memory) return nullptr;
  live += ::malloc_usable_size(memory);
  if (live > peak) peak = live.load();
  return memory;
}

void* operator new(std::size_t size) {
  if (void* const memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc{};
}

void* operator new[](std::size_t size) {
  return operator new(size);
}

void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size, std::nothrow);
}

void operator delete(void* memory) noexcept {
  if (memory) live -= ::malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

void operator delete[](void* memory) noexcept {
  operator delete(memory);
}

void operator delete[](void* memory, std::size_t) noexcept {
  operator delete(memory);
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}

void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}

namespace coldtrace::test {

void reset_allocation_peak() {
  floor_of_peak = live;
  peak = live.load();
}

u64 allocation_peak() {
  return peak - floor_of_peak;
}

void check_same(const core::Findings& a, const core::Findings& b) {
  REQUIRE(a.all().size() == b.all().size());
  for (std::size_t i = 0; i < a.all().size(); ++i) {
    CHECK(a.all()[i].code.view() == b.all()[i].code.view());
    CHECK(a.all()[i].count == b.all()[i].count);
    CHECK(a.all()[i].text == b.all()[i].text);
  }
}

std::string codes(const core::Findings& findings) {
  std::string text;
  for (const auto& finding : findings.all()) {
    if (!text.empty()) text += ' ';
    text += finding.code.view();
  }
  return text;
}

fixtures::PeSpec full_spec() {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{
      "fixture.dll", 5, {{"Alpha", 5, 0x1000}, {"Beta", 6, 0, "NTDLL.RtlBeta"}, {"", 9, 0x1000}}};
  spec.imports = {{"KERNEL32.dll", {{"CreateFileW", 0xc3}, {"", 7}}}};
  spec.delay_imports = {{"ole32.dll", {{"CoInitialize", 1}}}};
  spec.relocations = {{0x1000, 10}, {0x2008, 3}};
  spec.code_view = fixtures::PeCodeView{};
  spec.version = fixtures::PeVersion{};
  spec.version->strings = {{"OriginalFilename", "fixture.dll"}, {"FileVersion", "6.1.7601"}};
  spec.resources = {
      {11U, 1U, 0x409, fixtures::build_message_table(0x100, {{"one", true}, {"two", false}})},
      {"WEVT_TEMPLATE", 1U, 0x409, fixtures::to_bytes("CRIM")}};
  spec.exception_table =
      fixtures::ByteWriter{}.write_u32(0x1000).write_u32(0x1001).write_u32(0x1000).bytes();
  spec.load_config = fixtures::ByteWriter{}.write_u32(208).write_zeros(204).bytes();
  spec.tls = fixtures::ByteWriter{}.write_zeros(40).bytes();
  return spec;
}

fixtures::PeSpec spec_with_config(bool plus, u16 machine, u32 size) {
  fixtures::PeSpec spec;
  spec.pe32_plus = plus;
  spec.machine = machine;
  if (!plus) spec.image_base = 0x1000'0000;
  fixtures::ByteWriter config;
  config.write_u32(size);
  for (u32 at = 4; at < 320; at += 4) config.write_u32(0x1000 + at);
  spec.load_config = config.bytes();
  return spec;
}

}  // namespace coldtrace::test
