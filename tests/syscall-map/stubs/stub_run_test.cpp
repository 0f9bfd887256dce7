#include "syscall-map/stubs/stub_run.hpp"

#include <catch2/catch.hpp>

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pe_image.hpp"
#include "syscall-map/stubs/stub.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

constexpr u32 gate = 0x1180;

// mov eax, number; lea edx, [esp+4]; pushfd; push 8; call gate; ret 4, as x86 kernels have it.
void write_stub(fixtures::ByteWriter& code, u32 number, u32 to = gate) {
  code.write_u8(0xb8).write_u32(number);
  code.write_u8(0x8d).write_u8(0x54).write_u8(0x24).write_u8(0x04);
  code.write_u8(0x9c).write_u8(0x6a).write_u8(0x08).write_u8(0xe8);
  code.write_u32(to - (0x1000 + static_cast<u32>(code.size()) + 4));
  code.write_u8(0xc2).write_u16(4);
}

struct Run {
  std::vector<u32> numbers, places;  // of what was added
  std::vector<std::string> findings;
};

// The stub at 0x1014, the second one, is exported.
Run complete(const fixtures::ByteWriter& code, const std::vector<u32>& exported = {0x1014}) {
  fixtures::PeSpec spec;
  spec.pe32_plus = false;
  spec.machine = 0x14c;
  spec.image_base = 0x40'0000;
  spec.sections[0].content = code.bytes();
  spec.sections[0].content.resize(0x200, std::byte{0xcc});
  const auto file = fixtures::build_pe(spec);
  core::Findings opened;
  const auto image = pe::Image::open(file.bytes, pe::Layout::file, opened);
  REQUIRE(image);
  StubDecoder decoder{*image, false};
  std::vector<Service> services;
  for (const auto rva : exported) {
    const auto stub = decoder.decode(pe::Rva{rva});
    REQUIRE(stub);
    services.push_back(to_service(*image, pe::Rva{rva}, *stub, "exported"));
    services.back().name = fmt::format("Zw{:X}", rva);
  }
  Run run;
  const auto findings = complete_kernel_run(*image, services);
  for (const auto& finding : findings.all()) run.findings.push_back(finding.text);
  for (auto service = services.begin() + static_cast<std::ptrdiff_t>(exported.size());
       service != services.end(); ++service) {
    run.numbers.push_back(service->number);
    run.places.push_back(value(service->rva));
    CHECK(service->name.empty());
    CHECK(service->argument_bytes == 4U);
  }
  return run;
}

TEST_CASE("stubs of a kernel that no export names are added, from the first one on") {
  fixtures::ByteWriter code;
  for (u32 number = 0; number < 5; ++number) write_stub(code, number);
  const auto run = complete(code);
  CHECK(run.numbers == std::vector<u32>{0, 2, 3, 4});
  CHECK(run.places == std::vector<u32>{0x1000, 0x1028, 0x103c, 0x1050});
  CHECK(run.findings.empty());
}

TEST_CASE("a run of stubs ends where none follows that is exported") {
  fixtures::ByteWriter code;
  for (const u32 number : {0U, 1U, 7U, 3U}) write_stub(code, number);
  SECTION("at a stub of another number") {
    const auto run = complete(code);
    CHECK(run.numbers == std::vector<u32>{0});
    CHECK(run.findings.empty());
  }
  SECTION("or goes on, with a finding") {
    const auto run = complete(code, {0x1014, 0x103c});
    CHECK(run.numbers == std::vector<u32>{0});
    CHECK(run.findings ==
          std::vector<std::string>{"the run of stubs has none for number 0x2 at RVA 0x1028"});
  }
  SECTION("an exported one elsewhere is told") {
    const auto run = complete(code, {0x1014, 0x1028});
    CHECK(run.findings.front() ==
          "Zw1028 with number 0x7 is not in its place in the run of stubs, 0x108c");
  }
}

TEST_CASE("a stub of a run that leads elsewhere is told, one that leads out of the image is none") {
  fixtures::ByteWriter code;
  write_stub(code, 0);
  write_stub(code, 1);
  write_stub(code, 2, 0x1190);
  write_stub(code, 3, 0x40'0000);
  const auto run = complete(code);
  CHECK(run.numbers == std::vector<u32>{0, 2});
  CHECK(run.findings ==
        std::vector<std::string>{"the stub of number 0x2 leads to 0x1190, others to 0x1180"});
}

}  // namespace
}  // namespace coldtrace
