// Whole images made to exhaust a reader: what they cost is bounded by what they are.

#include "fixtures/builders/byte_writer.hpp"
#include "fuzz/pe/pe_read_everything.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

constexpr u64 most_memory = 64 << 20;

void read_both_layouts(core::ByteView bytes) {
  std::size_t opened = 0;
  for (const auto layout : {pe::Layout::file, pe::Layout::memory}) {
    test::reset_allocation_peak();
    Opened image{bytes, layout};
    if (!image) continue;
    ++opened;
    const auto totals = fuzz::read_everything(*image, image.findings);
    CHECK(totals.text <= 16 * (bytes.size() + (1 << 20)));
    CHECK(test::allocation_peak() < most_memory);
  }
  REQUIRE(opened > 0);
}

TEST_CASE("65,535 real sections are read") {
  fixtures::PeSpec spec;
  spec.section_count = 0xffff;
  auto built = fixtures::build_pe(spec);
  built.bytes.resize(built.section_table);
  fixtures::ByteWriter table;
  for (u32 i = 0; i < 0xffff; ++i)
    table.write_zeros(8)
        .write_u32(0x1000)
        .write_u32(0x1000 * (i % 64))
        .write_u32(0x200)
        .write_u32(0x200)
        .write_zeros(16);
  built.bytes.insert(built.bytes.end(), table.bytes().begin(), table.bytes().end());
  read_both_layouts(built.bytes);
  Opened image{built};
  REQUIRE(image);
  CHECK(image->sections().size() == 0xffff);
}

TEST_CASE("every directory may point anywhere") {
  auto spec = test::full_spec();
  const auto address =
      GENERATE(0U, 1U, 0x80U, 0x1000U, 0x1fffU, 0x7fff'ffffU, 0xffff'fff0U, 0xffff'ffffU);
  const auto size = GENERATE(1U, 0x28U, 0x7fff'ffffU, 0xffff'ffffU);
  CAPTURE(address, size);
  for (std::size_t i = 0; i < 16; ++i) spec.directories.push_back({i, {address, size}});
  read_both_layouts(fixtures::build_pe(spec).bytes);
}

TEST_CASE("every directory may be every other one") {
  auto spec = test::full_spec();
  const auto good = fixtures::build_pe(spec);
  std::size_t tried = 0;
  for (const auto& place : good.directories) {
    if (place.size == 0) continue;
    ++tried;
    spec.directories.clear();
    for (std::size_t i = 0; i < 16; ++i) spec.directories.push_back({i, {place.address, 0x10000}});
    read_both_layouts(fixtures::build_pe(spec).bytes);
  }
  CHECK(tried > 8);
}

TEST_CASE("every header byte may be any of the awkward ones") {
  const auto good = fixtures::build_pe(test::full_spec());
  std::size_t opened = 0;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size_of_headers; ++at)
    for (const unsigned bent : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      auto bytes = good.bytes;
      bytes[at] = static_cast<std::byte>(bent);
      Opened image{bytes};
      ++(image ? opened : refused);
      if (image) fuzz::read_everything(*image, image.findings);
    }
  // Bytes of the DOS header that nobody reads are most; those of signatures cannot be others.
  CHECK(opened > good.size_of_headers * 4);
  CHECK(refused >= 2 * 4);
}

TEST_CASE("every byte of every directory may be any of the awkward ones") {
  const auto good = fixtures::build_pe(test::full_spec());
  std::size_t tried = 0;
  for (const auto& place : good.directories)
    for (u32 at = place.offset; at < place.offset + place.size; ++at)
      for (const unsigned bent : {0x00U, 0x80U, 0xffU}) {
        auto bytes = good.bytes;
        bytes[at] = static_cast<std::byte>(bent);
        Opened image{bytes};
        REQUIRE(image);
        fuzz::read_everything(*image, image.findings);
        ++tried;
      }
  CHECK(tried > 1000);
}

TEST_CASE("exports whose names all are one long text are cut off") {
  fixtures::PeSpec spec;
  fixtures::ByteWriter table;
  constexpr u32 count = 0x10000;
  table.write_zeros(20).write_u32(count).write_u32(count);
  for (const u32 at : {40U, 40 + count * 4, 40 + count * 8}) table.write_u32(0x2000 + at);
  for (u32 i = 0; i < count; ++i) table.write_u32(0x1000);
  for (u32 i = 0; i < count; ++i) table.write_u32(0x2000 + 40 + count * 10);
  for (u32 i = 0; i < count; ++i) table.write_u16(i);
  table.write_text(std::string(0xffff, 'x')).write_u8(0);
  spec.sections.push_back({".edata", 0x4000'0040, table.bytes(), {}, {}, {}, {}});
  spec.directories = {{0, {0x2000, 40}}};
  const auto built = fixtures::build_pe(spec);
  read_both_layouts(built.bytes);
  Opened image{built};
  const auto exports = pe::read_export_directory(*image, image.findings);
  REQUIRE(exports);
  CHECK(image.findings.count("export-name") > 0);
}

// 16 MiB of one table, each as dense as its format allows.
constexpr u32 large = 16 << 20;

fixtures::PeImage with_table(std::size_t index, const fixtures::ByteWriter& table) {
  fixtures::PeSpec spec;
  spec.sections.push_back({".table", 0x4000'0040, table.bytes(), {}, {}, {}, {}});
  spec.directories = {{index, {0x2000, static_cast<u32>(table.size())}}};
  return fixtures::build_pe(spec);
}

// The entry again and again behind the head.
fixtures::ByteWriter full_of(const fixtures::ByteWriter& entry, fixtures::ByteWriter head = {}) {
  fixtures::ByteWriter many;
  for (int i = 0; i < 4096; ++i) many.write_bytes(entry.view());
  while (head.size() < large) head.write_bytes(many.view());
  return head;
}

fixtures::ByteWriter full_of_modules() {
  return full_of(fixtures::ByteWriter{}.write_zeros(12).write_u32(0x1001).write_u32(0x1001));
}

fixtures::ByteWriter full_of_delayed_modules() {
  return full_of(fixtures::ByteWriter{}
                     .write_u32(1)
                     .write_u32(0x1001)
                     .write_u32(0)
                     .write_u32(0x1001)
                     .write_zeros(16));
}

fixtures::ByteWriter full_of_relocations() {
  return full_of(fixtures::ByteWriter{}.write_u64(0x3333'3333'3333'3333),
                 fixtures::ByteWriter{}.write_u32(0x1000).write_u32(large));
}

fixtures::ByteWriter full_of_bound_imports() {
  return full_of(fixtures::ByteWriter{}.write_u32(1).write_u16(6).write_u16(0xffff));
}

fixtures::ByteWriter full_of_resources() {
  fixtures::ByteWriter table;
  table.write_zeros(14).write_u16(0xffff);
  constexpr u32 types = 30;
  for (u32 i = 0; i < types; ++i)
    table.write_u32(i).write_u32(0x8000'0000 | (0x1000 + i * (16 + 0xffff * 8)));
  for (u32 i = 0; i < types; ++i) {
    table.pad_to(0x1000 + i * (16 + 0xffff * 8)).write_zeros(14).write_u16(0xffff);
    for (u32 name = 0; name < 0xffff; ++name) table.write_u32(name).write_u32(0x800);
  }
  return table;
}

TEST_CASE("large tables as dense as can be stay within memory") {
  struct Row {
    const char* why;
    std::size_t directory;
    fixtures::ByteWriter (*table)();
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"modules without functions", 1, full_of_modules, "import-count"},
      {"delayed modules without functions", 13, full_of_delayed_modules, "import-count"},
      {"relocations", 5, full_of_relocations, "relocation-count"},
      {"bound imports", 11, full_of_bound_imports, "bound-import"},
      {"resources", 2, full_of_resources, "resource-count"},
  }));
  CAPTURE(row.why);
  const auto built = with_table(row.directory, row.table());
  core::Findings findings;
  const auto image = pe::Image::open(built.view(), pe::Layout::file, findings);
  REQUIRE(image);
  test::reset_allocation_peak();
  fuzz::read_everything(*image, findings);
  CHECK(findings.count(row.code) >= 1);
  CHECK(test::allocation_peak() < most_memory);
}

TEST_CASE("a message table as dense as can be stays within memory") {
  fixtures::ByteWriter table;
  table.write_u32(1).write_u32(0).write_u32(large).write_u32(16);
  while (table.size() < large) table.write_u32(4);
  core::Findings findings;
  test::reset_allocation_peak();
  CHECK(pe::read_message_table(table.view(), 0, findings).size() == 500'000);
  CHECK(findings.count("message-count") == 1);
  CHECK(test::allocation_peak() < most_memory);
}

TEST_CASE("a language as long as a version resource is not repeated for each string") {
  fixtures::ByteWriter strings;
  for (int i = 0; i < 3000; ++i) strings.write_u16(8).write_u16(0).write_u16(1).write_u16(0);
  const auto node = [](std::string key, const fixtures::ByteWriter& children) {
    fixtures::ByteWriter out;
    out.write_u16(0).write_u16(0).write_u16(1);
    for (const char c : key) out.write_u16(static_cast<u8>(c));
    out.write_u16(0).align(4).write_bytes(children.view());
    out.patch(0, static_cast<u16>(out.size()));
    return out;
  };
  const auto root =
      node("VS_VERSION_INFO", node("StringFileInfo", node(std::string(16'000, '0'), strings)));
  core::Findings findings;
  test::reset_allocation_peak();
  CHECK(pe::read_version_info(root.view(), 0, findings).strings.size() == 3000);
  CHECK(test::allocation_peak() < 2 << 20);
  CHECK(findings.count("version-node") == 1);
}

}  // namespace
}  // namespace coldtrace
