#include "coldtrace/pe/import_directory.hpp"

#include <cstring>

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pe;
using test::Opened;

fixtures::PeSpec spec_with_imports(bool plus) {
  fixtures::PeSpec spec;
  spec.pe32_plus = plus;
  spec.machine = plus ? 0x8664 : 0x14c;
  spec.image_base = plus ? 0x1'8000'0000 : 0x1000'0000;
  spec.imports = {{"KERNEL32.dll", {{"CreateFileW", 0xc3}, {"", 0x8007}, {"ReadFile", 1}}},
                  {"ntdll.dll", {{"NtClose", 2}}, 0, false}};
  return spec;
}

using Read = std::vector<pe::ImportedModule>(const pe::Image&, core::Findings&);
using Count = u64(const pe::Image&, core::Findings&);

// Counting gives as many functions, and finds the same.
void check_count(const pe::Image& image, Read& read, Count& count) {
  core::Findings of_reading;
  core::Findings of_counting;
  u64 functions = 0;
  for (const auto& module : read(image, of_reading)) functions += module.functions.size();
  CHECK(count(image, of_counting) == functions);
  test::check_same(of_counting, of_reading);
}

TEST_CASE("every damaged byte of the import tables is counted as it is read") {
  const bool delayed = GENERATE(false, true);
  auto spec = spec_with_imports(GENERATE(true, false));
  if (delayed) {
    spec.imports.clear();
    spec.delay_imports = {{"ole32.dll", {{"CoInitialize", 1}, {"", 9}}}, {"b.dll", {{"", 3}}}};
  }
  const auto built = build_pe(spec);
  const auto directory = built.directories[delayed ? 13 : 1];
  REQUIRE(directory.size > 40);
  // The lookup tables and the names lie behind the descriptors.
  const auto limit = std::min<u64>(built.bytes.size() - directory.offset, directory.size + 0x100);
  for (u64 at = 0; at < limit; ++at)
    for (const int content : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      auto damaged = built;
      damaged.patch<u8>(directory.offset + at, static_cast<u8>(content));
      CAPTURE(at, content);
      const Opened image{damaged};
      if (delayed)
        check_count(*image, pe::read_delay_imports, pe::count_delay_imports);
      else
        check_count(*image, pe::read_imports, pe::count_imports);
    }
}

TEST_CASE("imports have names or ordinals, and the slot that calls go through") {
  const bool plus = GENERATE(true, false);
  Opened image{spec_with_imports(plus)};
  const auto modules = pe::read_imports(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(modules.size() == 2);
  CHECK(modules[0].name == "KERNEL32.dll");
  CHECK_FALSE(modules[0].delayed);
  REQUIRE(modules[0].functions.size() == 3);
  const auto& functions = modules[0].functions;
  CHECK(functions[0].name == "CreateFileW");
  CHECK(functions[0].hint == 0xc3);
  CHECK_FALSE(functions[0].by_ordinal);
  CHECK(functions[0].slot == modules[0].address_table);
  CHECK(functions[1].by_ordinal);
  CHECK(functions[1].ordinal == 0x8007);
  CHECK(functions[2].slot == modules[0].address_table + (plus ? 16 : 8));
  CHECK(value(modules[1].lookup_table) == 0);
  REQUIRE(modules[1].functions.size() == 1);
  CHECK(modules[1].functions[0].name == "NtClose");
}

TEST_CASE("delay-load imports are read in both formats") {
  auto spec = spec_with_imports(false);
  spec.imports.clear();
  spec.delay_imports = {{"ole32.dll", {{"CoInitialize", 1}, {"", 9}}}};
  spec.delay_imports[0].by_address = GENERATE(false, true);
  Opened image{spec};
  const auto modules = pe::read_delay_imports(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].name == "ole32.dll");
  CHECK(modules[0].delayed);
  REQUIRE(modules[0].functions.size() == 2);
  CHECK(modules[0].functions[0].name == "CoInitialize");
  CHECK(modules[0].functions[1].ordinal == 9);
  CHECK(image->addresses().is_mapped(modules[0].functions[1].slot));
}

TEST_CASE("a delayed module with addresses before the image is a finding") {
  auto spec = spec_with_imports(false);
  spec.imports.clear();
  spec.delay_imports = {{"ole32.dll", {{"CoInitialize", 1}}}};
  auto built = build_pe(spec);
  built.patch<u32>(built.directories[13].offset, 0);
  Opened image{built};
  CHECK(pe::read_delay_imports(*image, image.findings).empty());
  CHECK(image.findings.count("import-table") == 1);
}

TEST_CASE("a slot whose name cannot be read is kept") {
  auto built = build_pe(spec_with_imports(true));
  const auto lookup = *core::load<u32>(built.bytes, built.directories[1].offset);
  built.patch<u64>(built.offset_of(lookup), 0x7000'0000);
  Opened image{built};
  const auto modules = pe::read_imports(*image, image.findings);
  CHECK(image.findings.count("import-name") == 1);
  REQUIRE(modules.size() == 2);
  REQUIRE(modules[0].functions.size() == 3);
  CHECK(modules[0].functions[0].name.empty());
  CHECK(modules[0].functions[0].slot == modules[0].address_table);
}

TEST_CASE("damaged import tables are findings") {
  struct Row {
    const char* why;
    u32 field;
    u32 content;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"no lookup table there: the address table serves", 0, 0x7000'0000, ""},
      {"the module's name is outside", 12, 0x7000'0000, "import-name"},
      {"the address table is outside, names are still read", 16, 0x7000'0000, "import-slots"},
  }));
  CAPTURE(row.why);
  auto built = build_pe(spec_with_imports(true));
  built.patch<u32>(built.directories[1].offset + row.field, row.content);
  Opened image{built};
  const auto modules = pe::read_imports(*image, image.findings);
  CHECK(modules.size() == 2);
  const auto found = test::codes(image.findings);
  if (*row.code == '\0')
    CHECK(found.empty());
  else
    CHECK(found.find(row.code) != std::string::npos);
}

TEST_CASE("functions and modules that a damaged table leaves out are told") {
  const bool plus = GENERATE(true, false);
  struct Row {
    const char* why;
    bool lookup;  // a place in the lookup table of the first module, or in the descriptors
    u32 place;    // entry, or offset
    u32 size;
    std::size_t modules, functions;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"the first name", true, 0, 1, 2, 1, "import-slots"},
      {"the second name", true, 1, 1, 2, 2, "import-slots"},
      {"the first descriptor", false, 0, 20, 0, 0, "import-table"},
      {"the name of the last module", false, 20 + 12, 4, 1, 3, "import-table"},
      {"the slots of the last module", false, 20 + 16, 4, 1, 3, "import-table"},
  }));
  CAPTURE(plus, row.why);
  auto built = build_pe(spec_with_imports(plus));
  const u32 table = built.directories[1].offset;
  const u32 width = plus ? 8 : 4;
  const u32 at = row.lookup
                     ? built.offset_of(*core::load<u32>(built.bytes, table)) + row.place * width
                     : table + row.place;
  for (u32 i = 0; i < (row.lookup ? width : row.size); ++i) built.patch<u8>(at + i, 0);
  Opened image{built};
  const auto modules = pe::read_imports(*image, image.findings);
  CHECK(modules.size() == row.modules);
  std::size_t functions = 0;
  for (const auto& module : modules) functions += module.functions.size();
  CHECK(functions == row.functions);
  CHECK(test::codes(image.findings) == row.code);
}

TEST_CASE("what lies behind the end of the modules is one if it has a name of modules") {
  struct Row {
    const char* name;
    bool module;
  };
  const auto row = GENERATE(values<Row>({{"ntdll.dll", true},
                                         {"!.dll", true},
                                         {"~.dll", true},
                                         {".dll", false},
                                         {"ntdlldll", false},
                                         {"nt ll.dll", false},
                                         {"nt\x1fll.dll", false},
                                         {"nt\x7fll.dll", false}}));
  CAPTURE(row.name);
  auto built = build_pe(spec_with_imports(true));
  const u32 table = built.directories[1].offset;
  const auto name = built.offset_of(*core::load<u32>(built.bytes, table + 20 + 12));
  for (u32 i = 0; i <= std::strlen(row.name); ++i) built.patch<char>(name + i, row.name[i]);
  for (u32 i = 0; i < 20; ++i) built.patch<u8>(table + i, 0);
  Opened image{built};
  CHECK(pe::read_imports(*image, image.findings).empty());
  CHECK(image.findings.count("import-table") == (row.module ? 1 : 0));
}

TEST_CASE("slots of a bound module are addresses") {
  auto spec = spec_with_imports(true);
  spec.imports[0].time_date_stamp = 0xffffffff;
  auto built = build_pe(spec);
  const auto slots = *core::load<u32>(built.bytes, built.directories[1].offset + 16);
  built.patch<u64>(built.offset_of(slots), 0x7ff8'0000'1000);
  Opened image{built};
  CHECK(pe::read_imports(*image, image.findings)[0].functions.size() == 3);
  CHECK(image.findings.empty());
}

TEST_CASE("a directory outside the image is a finding") {
  const auto index = GENERATE(std::size_t{1}, std::size_t{11}, std::size_t{13});
  fixtures::PeSpec spec;
  spec.directories = {{index, {0x7000'0000, 40}}};
  Opened image{spec};
  CHECK(pe::read_imports(*image, image.findings).empty());
  CHECK(pe::read_delay_imports(*image, image.findings).empty());
  CHECK(pe::read_bound_imports(*image, image.findings).empty());
  CHECK(image.findings.count(index == 11 ? "bound-import" : "import-table") == 1);
}

// A section full of descriptors that all share one long lookup table.
fixtures::PeSpec spec_with_shared_tables(u32 size) {
  fixtures::PeSpec spec;
  fixtures::ByteWriter table;
  while (table.size() < size / 2)
    table.write_u32(0x2000 + size / 2).write_zeros(8).write_u32(0x2000).write_u32(0x2000);
  while (table.size() < size) table.write_u64(0x8000'0000'0000'0001);
  spec.sections.push_back({".idata", 0x4000'0040, table.bytes(), {}, {}, {}, {}});
  spec.directories = {{1, {0x2000, size}}};
  return spec;
}

TEST_CASE("descriptors that share a table give no more functions than the file has room for") {
  Opened image{spec_with_shared_tables(0x40000)};
  test::reset_allocation_peak();
  u64 functions = 0;
  for (const auto& module : pe::read_imports(*image, image.findings))
    functions += module.functions.size();
  CHECK(functions == image->file().size() / 8);
  CHECK(image.findings.count("import-count") == 1);
  core::Findings of_counting;
  CHECK(pe::count_imports(*image, of_counting) == functions);
  test::check_same(of_counting, image.findings);
  CHECK(test::allocation_peak() < 64 << 20);
}

TEST_CASE("bound imports list modules and their forwarders") {
  fixtures::PeSpec spec;
  fixtures::ByteWriter table;
  table.write_u32(0x11111111).write_u16(32).write_u16(1);
  table.write_u32(0x22222222).write_u16(38).write_u16(0);
  table.write_u32(0x33333333).write_u16(44).write_u16(0).write_zeros(8);
  table.write_text(std::string_view{"a.dll\0b.dll\0c.dll\0", 18});
  spec.sections.push_back({".bound", 0x4000'0040, table.bytes(), {}, {}, {}, {}});
  spec.directories = {{11, {0x2000, static_cast<u32>(table.size())}}};
  Opened image{spec};
  const auto bound = pe::read_bound_imports(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(bound.size() == 3);
  CHECK(bound[0].module == "a.dll");
  CHECK(bound[0].time_date_stamp == 0x11111111);
  CHECK_FALSE(bound[0].forwarder);
  CHECK(bound[1].module == "b.dll");
  CHECK(bound[1].forwarder);
  CHECK_FALSE(bound[2].forwarder);
}

}  // namespace
}  // namespace coldtrace
