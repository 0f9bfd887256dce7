#include "coldtrace/pe/clr_header.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/value_of.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

// ECMA-335, II.25.3.3 and II.24.2.1.
fixtures::PeSpec managed_spec() {
  fixtures::PeSpec spec;
  fixtures::ByteWriter out;
  out.write_u32(72).write_u16(2).write_u16(5).write_u32(0x2000 + 72).write_u32(0x40);
  out.write_u32(1).write_zeros(72 - 20);
  out.write_u32(0x424a'5342).write_u16(1).write_u16(1).write_u32(0).write_u32(12);
  out.write_text("v4.0.30319").write_zeros(2);
  spec.sections.push_back({".clr", 0x4000'0040, out.bytes(), {}, {}, {}, {}});
  spec.directories = {{14, {0x2000, 72}}};
  return spec;
}

TEST_CASE("a .NET image names its runtime") {
  const Opened image{managed_spec()};
  const auto header = pe::read_clr_header(*image);
  REQUIRE(header);
  REQUIRE(*header);
  CHECK((*header)->major_runtime_version == 2);
  CHECK((*header)->minor_runtime_version == 5);
  CHECK((*header)->flags == 1);
  CHECK((*header)->metadata_version == "v4.0.30319");
}

TEST_CASE("other images have no .NET header, and a lost one is an error") {
  const Opened native{fixtures::PeSpec{}};
  CHECK_FALSE(fixtures::value_of(pe::read_clr_header(*native)));
  auto spec = managed_spec();
  spec.directories = {{14, {0x7000'0000, 72}}};
  const Opened lost{spec};
  CHECK_FALSE(pe::read_clr_header(*lost));
}

// II.24.2.1: a version has up to 255 bytes with its NUL, and what is allocated for it is a multiple
// of four.
TEST_CASE("the longest version is named") {
  auto spec = managed_spec();
  auto& content = spec.sections.back().content;
  const std::string version(254, 'v');
  const u32 allocated = GENERATE(256U, 260U);
  fixtures::ByteWriter root;
  root.write_u32(0x424a'5342).write_u16(1).write_u16(1).write_u32(0).write_u32(allocated);
  root.write_text(version).pad_to(16 + allocated);
  content.resize(72);
  content.insert(content.end(), root.bytes().begin(), root.bytes().end());
  const Opened image{spec};
  const auto header = pe::read_clr_header(*image);
  REQUIRE(header);
  CHECK((*header)->metadata_version == (allocated == 256 ? version : std::string{}));
}

TEST_CASE("damaged metadata has no version") {
  auto spec = managed_spec();
  const u64 at = GENERATE(u64{72}, u64{84});
  for (u64 i = 0; i < 4; ++i) spec.sections.back().content[at + i] = std::byte{0xff};
  const Opened image{spec};
  const auto header = pe::read_clr_header(*image);
  REQUIRE(header);
  CHECK((*header)->metadata_version.empty());
}

}  // namespace
}  // namespace coldtrace
