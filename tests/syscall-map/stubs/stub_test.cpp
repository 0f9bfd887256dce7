#include "syscall-map/stubs/stub.hpp"

#include <random>

#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/service_mapper.hpp"
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

TEST_CASE("a stub cut off anywhere is no stub") {
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

}  // namespace
}  // namespace coldtrace
