#include "coldtrace/pe/base_relocations.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pe;
using test::Opened;

TEST_CASE("base relocations are listed by address, without padding") {
  fixtures::PeSpec spec;
  spec.relocations = {{0x1000, 3}, {0x1ffc, 10}, {0x3004, 10}};
  Opened image{spec};
  const auto relocations = pe::read_base_relocations(*image, image.findings);
  CHECK(pe::count_base_relocations(*image, image.findings) == 3);
  CHECK(image.findings.empty());
  REQUIRE(relocations.size() == 3);
  CHECK(value(relocations[0].address) == 0x1000);
  CHECK(relocations[0].type == pe::RelocationType::highlow);
  CHECK(value(relocations[1].address) == 0x1ffc);
  CHECK(value(relocations[2].address) == 0x3004);
  CHECK(relocations[2].type == pe::RelocationType::dir64);
}

TEST_CASE("damaged blocks end the list") {
  struct Row {
    const char* why;
    u32 size;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"smaller than its header", 4, "relocation-block"},
      {"no size", 0, "relocation-block"},
      {"larger than the table", 0x1000, "relocation-block"},
      {"four billion bytes", ~u32{0}, "relocation-block"},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  spec.relocations = {{0x1000, 3}, {0x3004, 10}};
  auto built = build_pe(spec);
  built.patch<u32>(built.directories[5].offset + 12 + 4, row.size);  // the second block
  Opened image{built};
  const auto relocations = pe::read_base_relocations(*image, image.findings);
  CHECK(relocations.size() == 1);
  core::Findings again;
  CHECK(pe::count_base_relocations(*image, again) == 1);
  CHECK(image.findings.count(row.code) == 1);
}

TEST_CASE("the second half of HIGHADJ is not a relocation") {
  fixtures::PeSpec spec;
  spec.relocations = {{0x1000, 4}, {0x1234, 3}, {0x1238, 3}};
  Opened image{spec};
  const auto relocations = pe::read_base_relocations(*image, image.findings);
  REQUIRE(relocations.size() == 2);
  CHECK(pe::count_base_relocations(*image, image.findings) == 2);
  CHECK(value(relocations[1].address) == 0x1238);
}

TEST_CASE("a table outside the file is a finding") {
  fixtures::PeSpec spec;
  spec.directories = {{5, {0x7000'0000, 0x100}}};
  Opened image{spec};
  CHECK(pe::read_base_relocations(*image, image.findings).empty());
  CHECK(image.findings.count("relocation-range") == 1);
}

}  // namespace
}  // namespace coldtrace
