#include "coldtrace/pe/hybrid.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;
using test::spec_with_config;

TEST_CASE("code of two machines is recognised") {
  struct Row {
    const char* why;
    bool plus;
    u16 machine;
    u32 size;
    pe::Hybrid hybrid;
    bool agrees;
  };
  const auto row = GENERATE(values<Row>({
      {"ARM64 with CHPE metadata", true, 0xaa64, 0x140, pe::Hybrid::arm64x, true},
      {"x64 with CHPE metadata", true, 0x8664, 0x140, pe::Hybrid::arm64ec, true},
      {"x86 with CHPE metadata", false, 0x14c, 0x100, pe::Hybrid::chpe, true},
      {"too short for CHPE metadata", true, 0xaa64, 0x90, pe::Hybrid::none, true},
      {"ARM32", false, 0x1c4, 0x100, pe::Hybrid::none, false},
      {"a machine of objects", true, 0xa64e, 0x140, pe::Hybrid::arm64x, false},
  }));
  CAPTURE(row.why);
  Opened image{spec_with_config(row.plus, row.machine, row.size)};
  const auto read = pe::read_load_config(*image);
  REQUIRE(read);
  REQUIRE(*read);
  CHECK(pe::recognize_hybrid(*image, *read, image.findings) == row.hybrid);
  CHECK(image.findings.count("arm64x") == (row.hybrid == pe::Hybrid::none ? 0 : 1));
  CHECK(image.findings.count("hybrid-machine") == (row.agrees ? 0 : 1));
}

}  // namespace
}  // namespace coldtrace
