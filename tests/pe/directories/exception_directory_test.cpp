#include "coldtrace/pe/exception_directory.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

fixtures::PeSpec spec_with_table(u16 machine, const fixtures::ByteWriter& table) {
  fixtures::PeSpec spec;
  spec.machine = machine;
  spec.sections[0].content.resize(0x400);
  spec.exception_table = table.bytes();
  return spec;
}

TEST_CASE("x64 entries give start and end, chained ones are fragments") {
  fixtures::ByteWriter table;
  table.write_u32(0x1000).write_u32(0x1010).write_u32(0x1300);
  table.write_u32(0x1010).write_u32(0x1020).write_u32(0x1304);
  table.write_u32(0x1020).write_u32(0x1030).write_u32(0x2001);
  auto spec = spec_with_table(0x8664, table);
  spec.sections[0].content[0x300] = std::byte{0x01};  // version 1
  spec.sections[0].content[0x304] = std::byte{0x21};  // version 1, UNW_FLAG_CHAININFO
  Opened image{spec};
  const auto ranges = pe::read_function_ranges(*image, image.findings);
  core::Findings again;
  CHECK(pe::count_function_ranges(*image, again) == ranges.size());
  CHECK(again.all().size() == image.findings.all().size());
  CHECK(image.findings.empty());
  REQUIRE(ranges.size() == 3);
  CHECK(value(ranges[0].start) == 0x1000);
  CHECK(value(ranges[0].end) == 0x1010);
  CHECK_FALSE(is_fragment(*image, ranges[0]));
  CHECK(is_fragment(*image, ranges[1]));
  CHECK(is_fragment(*image, ranges[2]));
}

TEST_CASE("ARM64 entries are packed or point at their record") {
  fixtures::ByteWriter table;
  table.write_u32(0x1000).write_u32(0x10 << 2 | 1);  // packed, 16 instructions
  table.write_u32(0x1040).write_u32(0x08 << 2 | 2);  // packed fragment
  table.write_u32(0x1060).write_u32(0x1300);         // .xdata
  auto spec = spec_with_table(0xaa64, table);
  spec.sections[0].content[0x300] = std::byte{0x20};
  Opened image{spec};
  const auto ranges = pe::read_function_ranges(*image, image.findings);
  core::Findings again;
  CHECK(pe::count_function_ranges(*image, again) == ranges.size());
  CHECK(again.all().size() == image.findings.all().size());
  CHECK(image.findings.empty());
  REQUIRE(ranges.size() == 3);
  CHECK(value(ranges[0].end) == 0x1040);
  CHECK_FALSE(is_fragment(*image, ranges[0]));
  CHECK(value(ranges[1].end) == 0x1060);
  CHECK(is_fragment(*image, ranges[1]));
  CHECK(value(ranges[2].end) == 0x1060 + 0x20 * 4);
}

TEST_CASE("ARM32 addresses carry the Thumb bit, and lengths count half-words") {
  fixtures::ByteWriter table;
  table.write_u32(0x1001).write_u32(0x10 << 2 | 1).write_u32(0x1041).write_u32(0x1300);
  auto spec = spec_with_table(0x1c4, table);
  spec.pe32_plus = false;
  spec.image_base = 0x1000'0000;
  spec.sections[0].content[0x300] = std::byte{0x20};
  Opened image{spec};
  const auto ranges = pe::read_function_ranges(*image, image.findings);
  core::Findings again;
  CHECK(pe::count_function_ranges(*image, again) == ranges.size());
  CHECK(again.all().size() == image.findings.all().size());
  REQUIRE(ranges.size() == 2);
  CHECK(value(ranges[0].start) == 0x1000);
  CHECK(value(ranges[0].end) == 0x1020);
  CHECK(value(ranges[1].end) == 0x1040 + 0x40);
}

TEST_CASE("damaged exception tables are findings") {
  struct Row {
    const char* why;
    u16 machine;
    u32 first, second, third;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"ends before it starts", 0x8664, 0x1010, 0x1000, 0x1300, "exception-entry"},
      {"reserved packing", 0xaa64, 0x1000, 0x43, 0, "exception-entry"},
      {"record outside the image", 0xaa64, 0x1000, 0x7000'0000, 0, "exception-entry"},
  }));
  CAPTURE(row.why);
  fixtures::ByteWriter table;
  table.write_u32(row.first).write_u32(row.second);
  if (row.machine == 0x8664) table.write_u32(row.third);
  Opened image{spec_with_table(row.machine, table)};
  CHECK(pe::read_function_ranges(*image, image.findings).empty());
  CHECK(image.findings.count(row.code) == 1);
}

TEST_CASE("entries of no length are skipped, and healthy files have them") {
  struct Row {
    const char* why;
    u16 machine;
    std::vector<u32> table;
  };
  const auto row = GENERATE(values<Row>({
      {"two among others",
       0x8664,
       {0x1000, 0x1010, 0x1300, 0x1020, 0x1020, 0x1300, 0x1020, 0x1020, 0x1300, 0x1030, 0x1040,
        0x1300}},
      {"out of order",
       0x8664,
       {0x1000, 0x1010, 0x1300, 0x0, 0x0, 0x1300, 0x10, 0x10, 0x1300, 0x1030, 0x1040, 0x1300}},
      {"packed", 0xaa64, {0x1000, 0x10 << 2 | 1, 0x1040, 1, 0x1080, 0x10 << 2 | 1}},
  }));
  CAPTURE(row.why);
  fixtures::ByteWriter table;
  for (const auto word : row.table) table.write_u32(word);
  Opened image{spec_with_table(row.machine, table)};
  CHECK(pe::read_function_ranges(*image, image.findings).size() == 2);
  REQUIRE(image.findings.all().size() == 1);
  CHECK(image.findings.all()[0].code.view() == "exception-empty");
  CHECK(image.findings.all()[0].severity == core::Severity::info);
  core::Findings again;
  CHECK(pe::count_function_ranges(*image, again) == 2);
}

TEST_CASE("entries out of order are sorted, with a finding") {
  fixtures::ByteWriter table;
  table.write_u32(0x1020).write_u32(0x1030).write_u32(0x1300);
  table.write_u32(0x1000).write_u32(0x1010).write_u32(0x1300);
  Opened image{spec_with_table(0x8664, table)};
  const auto ranges = pe::read_function_ranges(*image, image.findings);
  core::Findings again;
  CHECK(pe::count_function_ranges(*image, again) == ranges.size());
  CHECK(again.all().size() == image.findings.all().size());
  REQUIRE(ranges.size() == 2);
  CHECK(value(ranges[0].start) == 0x1000);
  CHECK(image.findings.count("exception-order") == 1);
}

TEST_CASE("a table longer than the file is cut, with a finding") {
  fixtures::ByteWriter table;
  table.write_u32(0x1000).write_u32(0x1010).write_u32(0x1300);
  auto spec = spec_with_table(0x8664, table);
  spec.directories = {{3, {0x2000, 0x7000'0000}}};
  Opened image{spec};
  CHECK(pe::read_function_ranges(*image, image.findings).size() == 1);
  CHECK(image.findings.count("exception-range") == 1);
  CHECK(pe::count_function_ranges(*image, image.findings) == 1);
  CHECK(image.findings.count("exception-range") == 2);
}

TEST_CASE("x86 has no such table") {
  fixtures::ByteWriter table;
  table.write_u32(0x1000).write_u32(0x1010).write_u32(0x1300);
  Opened image{spec_with_table(0x14c, table)};
  CHECK(pe::read_function_ranges(*image, image.findings).empty());
  CHECK(image.findings.empty());
}

}  // namespace
}  // namespace coldtrace
