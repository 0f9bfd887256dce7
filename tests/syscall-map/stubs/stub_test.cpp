#include "syscall-map/stubs/stub.hpp"

#include <random>

#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/stubs/service_mapper.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {
namespace {

syscall_map::StubDecoder decoder_of(const pe::Image& image) {
  return {image, pe::has_wine_marker(image)};
}

std::optional<syscall_map::Stub> decode_stub(const pe::Image& image, pe::Rva rva) {
  return decoder_of(image).decode(rva);
}

const auto every_image = [] {
  return GENERATE(as<std::string>{}, "nt4-x86/ntdll.dll", "xp-sp0-x86/ntdll.dll",
                  "xp-sp2-x86/ntdll.dll", "windows8-x86/ntdll.dll", "vista-wow64/ntdll.dll",
                  "windows7-wow64/ntdll.dll", "windows8-wow64/ntdll.dll",
                  "windows10-wow64/ntdll.dll", "windows7-x64/ntdll.dll", "windows10-x64/ntdll.dll",
                  "windows10-arm64/ntdll.dll", "windows10-arm32/ntdll.dll", "wine-x64/ntdll.dll",
                  "wine-i386/ntdll.dll", "windows7-x86-kernel/ntoskrnl.exe",
                  "windows10-x64-kernel/ntoskrnl.exe");
};

// One service of each shape and length that the image has.
std::vector<syscall_map::Service> one_of_each(const pe::Image& image) {
  std::vector<syscall_map::Service> chosen;
  std::vector<std::pair<std::string_view, u32>> seen;
  for (auto& service : syscall_map::map_services(image).services) {
    if (service.shape.empty()) continue;
    const auto kind = std::pair{service.shape, decode_stub(image, service.rva)->length};
    if (std::find(seen.begin(), seen.end(), kind) != seen.end()) continue;
    seen.push_back(kind);
    chosen.push_back(std::move(service));
  }
  return chosen;
}

TEST_CASE("a stub cut off anywhere is not a stub") {
  const auto name = every_image();
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto image = file->open();
  const auto services = one_of_each(image);
  REQUIRE_FALSE(services.empty());
  for (const auto& service : services) {
    const auto length = decode_stub(image, service.rva)->length;
    for (u32 cut = 0; cut <= length; ++cut) {
      core::Findings findings;
      const auto shorter =
          pe::Image::open(core::ByteView{file->bytes}.first(*service.file_offset + cut),
                          pe::Layout::file, findings);
      REQUIRE(shorter);
      const auto stub = decode_stub(*shorter, service.rva);
      REQUIRE(stub.has_value() == (cut == length));
    }
  }
}

TEST_CASE("what a decoder looked at before changes nothing") {
  const auto name = every_image();
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto image = file->open();
  std::vector<pe::Rva> places{pe::Rva{0}, pe::Rva{0xffff'ffff}};
  for (const auto& section : image.sections())
    for (u32 i = 0; i < section.virtual_size; i += 37) places.push_back(section.address + i);
  for (const auto& service : syscall_map::map_services(image).services)
    places.push_back(service.rva);
  std::shuffle(places.begin(), places.end(), std::minstd_rand{3});
  auto decoder = decoder_of(image);
  u64 stubs = 0;
  for (const auto rva : places) {
    const auto alone = decode_stub(image, rva);
    const auto stub = decoder.decode(rva);
    CAPTURE(value(rva));
    REQUIRE(stub.has_value() == alone.has_value());
    if (!stub) continue;
    ++stubs;
    CHECK(stub->raw_immediate == alone->raw_immediate);
    CHECK(stub->length == alone->length);
    CHECK(image.is_executable(rva));
  }
  CHECK(stubs > 0);
}

TEST_CASE("any other byte in a stub is another stub or none") {
  const auto name = every_image();
  CAPTURE(name);
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto image = file->open();
  for (const auto& service : one_of_each(image)) {
    const auto before = decode_stub(image, service.rva);
    // These bytes depend on where the image is, not on the service.
    const bool query_process = service.shape == "wow64-transition-query-process";
    for (u32 at = 0; at < before->length; ++at) {
      if (query_process && at == 14) continue;
      if (service.shape == "wow64-fs-ecx" && at > 5 && at < 10) continue;
      if (service.shape == "kernel-x64-zw" && at > 14 && at < 19) continue;
      auto bent = *file;
      bent.bytes[*service.file_offset + at] ^= std::byte{0x40};
      const auto after = decode_stub(bent.open(), service.rva);
      CAPTURE(service.name, at);
      REQUIRE((!after || after->raw_immediate != before->raw_immediate ||
               after->argument_bytes != before->argument_bytes || after->length != before->length ||
               after->gate != before->gate));
    }
  }
}

struct Code {
  const char* code;
  fixtures::Bytes bytes;  // at 0x1000 of an image of 0x2000 bytes
  std::optional<u32> number;
  std::optional<u32> gate = std::nullopt;
};

void check(const Code& row, u16 machine, bool x64) {
  CAPTURE(row.code, machine);
  fixtures::PeSpec spec;
  spec.pe32_plus = x64;
  spec.machine = machine;
  spec.image_base = 0x40'0000;
  spec.sections[0].content = row.bytes;
  spec.sections[0].content.resize(0x40, std::byte{0x90});
  const auto file = fixtures::build_pe(spec);
  REQUIRE(file.size_of_image == 0x2000);
  core::Findings findings;
  const auto image = pe::Image::open(file.bytes, pe::Layout::file, findings);
  REQUIRE(image);
  const auto stub = decode_stub(*image, pe::Rva{0x1000});
  REQUIRE(stub.has_value() == row.number.has_value());
  if (!stub) return;
  CHECK(stub->number == *row.number);
  CHECK(stub->raw_immediate == *row.number);
  CHECK(stub->gate.has_value() == row.gate.has_value());
  if (stub->gate && row.gate) CHECK(value(*stub->gate) == *row.gate);
}

TEST_CASE("a stub of x64 loads a number of 16 bits and is no more than a stub") {
  using fixtures::to_bytes;
  const Code rows[] = {
      {"mov r10, rcx; mov eax, 5; syscall; ret",
       to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 5, 0, 0, 0, 0x0f, 0x05, 0xc3}), 5},
      {"of number ffffh", to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 0xff, 0xff, 0, 0, 0x0f, 0x05, 0xc3}),
       0xffff},
      {"of number 10000h", to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 0, 0, 1, 0, 0x0f, 0x05, 0xc3}), {}},
      {"of number 10001h", to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 1, 0, 1, 0, 0x0f, 0x05, 0xc3}), {}},
      {"mov r10, rcx; mov eax, 5; sysenter; ret",
       to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 5, 0, 0, 0, 0x0f, 0x34, 0xc3}),
       {}},
      {"mov r10, rcx; mov eax, 5; nop", to_bytes({0x4c, 0x8b, 0xd1, 0xb8, 5, 0, 0, 0}), {}},
  };
  for (const auto& row : rows) check(row, 0x8664, true);
}

TEST_CASE("a kernel's stub of x86 leads to a place of the image") {
  // mov eax, 5; lea edx, [esp+4]; pushfd; push 8; call, of which the next instruction is at 1011.
  const auto call = [](u32 target) {
    const auto distance = target - 0x1011;
    return fixtures::to_bytes({0xb8, 5, 0, 0, 0, 0x8d, 0x54, 0x24, 4, 0x9c, 0x6a, 8, 0xe8,
                               distance & 0xff, distance >> 8 & 0xff, distance >> 16 & 0xff,
                               distance >> 24, 0xc3});
  };
  const Code rows[] = {
      {"to 1020", call(0x1020), 5, 0x1020},          {"to the first byte", call(0), 5, 0},
      {"to the last byte", call(0x1fff), 5, 0x1fff}, {"behind the last", call(0x2000), {}},
      {"before the first", call(0xffff'ffff), {}},
  };
  for (const auto& row : rows) check(row, 0x14c, false);
}

// Encodings are those of llvm-mc.
TEST_CASE("a stub of 32-bit ARM moves a number to r12 in one of two ways") {
  const auto code = [](std::initializer_list<unsigned> move, unsigned last = 0xdf) {
    auto bytes = fixtures::to_bytes(move);
    const auto rest = fixtures::to_bytes({0x01, last, 0x70, 0x47});  // svc #1; bx lr
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
  };
  const Code rows[] = {
      {"movw r12, #5", code({0x40, 0xf2, 0x05, 0x0c}), 5},
      {"movw r12, #100h", code({0x40, 0xf2, 0x00, 0x1c}), 0x100},
      {"movw r12, #800h", code({0x40, 0xf6, 0x00, 0x0c}), 0x800},
      {"movw r12, #fffh", code({0x40, 0xf6, 0xff, 0x7c}), 0xfff},
      {"movw r12, #1234h", code({0x41, 0xf2, 0x34, 0x2c}), 0x1234},
      {"movw r12, #ffffh", code({0x4f, 0xf6, 0xff, 0x7c}), 0xffff},
      {"movw r0, #5", code({0x40, 0xf2, 0x05, 0x00}), {}},
      {"mov.w r12, #55h", code({0x4f, 0xf0, 0x55, 0x0c}), 0x55},
      {"mov.w r12, #550055h", code({0x4f, 0xf0, 0x55, 0x1c}), {}},
      {"mov.w r12, #55555555h", code({0x4f, 0xf0, 0x55, 0x3c}), {}},
      {"mov.w r12, #100h", code({0x4f, 0xf4, 0x80, 0x7c}), {}},
      {"mov.w r0, #55h", code({0x4f, 0xf0, 0x55, 0x00}), {}},
      {"movw r12, #5; udf #1", code({0x40, 0xf2, 0x05, 0x0c}, 0xde), {}},
  };
  for (const auto machine : {0x1c0, 0x1c4})
    for (const auto& row : rows) check(row, static_cast<u16>(machine), false);
}

}  // namespace
}  // namespace coldtrace
