#include "coldtrace/pe/image.hpp"

#include "fuzz/pe/pe_read_everything.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using core::Fault;
using fixtures::build_pe;
using test::Opened;

TEST_CASE("headers are read as they are, PE32 and PE32+") {
  const bool plus = GENERATE(true, false);
  fixtures::PeSpec spec;
  spec.pe32_plus = plus;
  spec.machine = plus ? 0x8664 : 0x14c;
  spec.image_base = plus ? 0x1'8000'0000 : 0x1000'0000;
  spec.dll_characteristics = 0x0180;
  const auto built = build_pe(spec);
  const Opened image{built};
  REQUIRE(image);
  CHECK(image.findings.empty());
  CHECK(image->machine() == (plus ? pe::Machine::amd64 : pe::Machine::i386));
  CHECK(image->file_header().time_date_stamp == 0x4ce7ab88);
  const auto& optional = image->optional_header();
  CHECK(optional.pe32_plus == plus);
  CHECK(optional.pointer_size() == (plus ? 8 : 4));
  CHECK(optional.image_base == spec.image_base);
  CHECK(optional.section_alignment == 0x1000);
  CHECK(optional.file_alignment == 0x200);
  CHECK(optional.major_linker_version == 14);
  CHECK(optional.major_subsystem_version == 6);
  CHECK(optional.minor_subsystem_version == 1);
  CHECK(optional.size_of_image == built.size_of_image);
  CHECK(optional.size_of_headers == built.size_of_headers);
  CHECK(optional.checksum == 0x1234);
  CHECK(core::load<u32>(built.bytes, optional.checksum_offset) == 0x1234U);
  CHECK(optional.subsystem == 3);
  CHECK((optional.dll_characteristics & pe::dll_force_integrity) != 0);
  CHECK(value(optional.entry_point) == 0x1000);
  REQUIRE(image->sections().size() == 1);
  CHECK(image->sections()[0].name() == ".text");
  CHECK(image->sections()[0].executable());
}

TEST_CASE("a section name of eight characters has no terminator") {
  fixtures::PeSpec spec;
  spec.sections[0].name = "PAGELKCO";
  CHECK(Opened { spec } -> sections()[0].name() == "PAGELKCO");
}

TEST_CASE("what is not a PE image is refused, with the place and the reason") {
  struct Row {
    const char* why;
    void (*bend)(fixtures::PeSpec&, fixtures::PeImage&);
    Fault fault;
    const char* field;
  };
  const auto row = GENERATE(values<Row>({
      {"no MZ", [](auto&, auto& image) { image.template patch<u16>(0, 0x4d5a); }, Fault::bad_magic,
       "e_magic"},
      {"no PE signature",
       [](auto&, auto& image) { image.template patch<u32>(image.file_header, 0x454e); },
       Fault::bad_magic, "Signature"},
      {"e_lfanew behind the end",
       [](auto&, auto& image) { image.template patch<u32>(60, 1 << 30); }, Fault::out_of_bounds,
       "e_lfanew"},
      {"e_lfanew wraps", [](auto&, auto& image) { image.template patch<u32>(60, ~u32{0}); },
       Fault::out_of_bounds, "e_lfanew"},
      {"optional header of a ROM image",
       [](auto&, auto& image) { image.template patch<u16>(image.optional_header, 0x107); },
       Fault::bad_magic, "Magic"},
      {"optional header longer than the file",
       [](auto&, auto& image) { image.template patch<u16>(image.file_header + 20, 0xffff); },
       Fault::truncated, "Magic"},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  auto built = build_pe(spec);
  row.bend(spec, built);
  const Opened image{built};
  REQUIRE_FALSE(image);
  CHECK(image.result().error().fault == row.fault);
  CHECK(image.result().error().field.view() == row.field);
  CHECK(image.result().error().offset <= built.bytes.size());
}

TEST_CASE("odd headers that leave the image readable are findings") {
  struct Row {
    const char* why;
    void (*bend)(fixtures::PeSpec&);
    const char* codes;
  };
  const auto row = GENERATE(values<Row>({
      {"SectionAlignment is zero", [](auto& spec) { spec.section_alignment = 0; }, "alignment"},
      {"FileAlignment is not a power of two", [](auto& spec) { spec.file_alignment = 0x300; },
       "alignment"},
      {"17 directories", [](auto& spec) { spec.directory_count = 17; }, "directory-count"},
      {"4 billion directories", [](auto& spec) { spec.directory_count = ~u32{0}; },
       "directory-count"},
      {"no optional header by its size", [](auto& spec) { spec.optional_header_size = 0; },
       "optional-header-size"},
      {"65,535 sections", [](auto& spec) { spec.section_count = 0xffff; }, "section-table"},
      {"a section behind the end of the file",
       [](auto& spec) { spec.sections[0].raw_offset = 0x7fff'0000; }, "section-truncated"},
      {"a section larger than the file",
       [](auto& spec) {
         spec.sections[0].raw_size = 0x7fff'0000;
         spec.sections[0].virtual_size = 0x7fff'0000;
       },
       "section-truncated"},
      {"a section that wraps around",
       [](auto& spec) {
         spec.sections[0].address = 0xffff'f000;
         spec.sections[0].virtual_size = 0x2000;
       },
       "section-range"},
      {"two sections at one place",
       [](auto& spec) {
         spec.sections.push_back(spec.sections[0]);
         spec.sections[1].address = 0x1000;
       },
       "section-overlap"},
      {"headers that cover the first section",
       [](auto& spec) {
         spec.size_of_headers = 0x8000;
         spec.sections[0].content.resize(0x4000);
       },
       "headers-range"},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  row.bend(spec);
  Opened image{spec};
  REQUIRE(image);
  const auto found = test::codes(image.findings);
  CAPTURE(found);
  CHECK(found.find(row.codes) != std::string::npos);
  fuzz::read_everything(*image, image.findings);
}

TEST_CASE("an image cut off anywhere is an error or a finding, never a wild read") {
  const auto built = build_pe(test::full_spec());
  for (std::size_t cut = 0; cut < built.bytes.size(); ++cut) {
    Opened image{built.view().first(cut)};
    if (!image) {
      REQUIRE(image.result().error().offset <= cut);
      continue;
    }
    fuzz::read_everything(*image, image.findings);
    REQUIRE_FALSE(image.findings.empty());
  }
}

TEST_CASE("an image cut off in memory layout is read as far as it goes") {
  const auto built = build_pe(test::full_spec());
  const auto loaded = fixtures::as_loaded(built);
  for (std::size_t cut = 0; cut < loaded.size(); cut += 7) {
    Opened image{core::ByteView{loaded}.first(cut), pe::Layout::memory};
    if (cut >= built.size_of_headers) REQUIRE(image);
    if (image) fuzz::read_everything(*image, image.findings);
  }
}

TEST_CASE("an image dumped from memory reads the same in the memory layout") {
  const auto built = build_pe(test::full_spec());
  const auto loaded = fixtures::as_loaded(built);
  Opened from_file{built};
  Opened from_memory{loaded, pe::Layout::memory};
  REQUIRE(from_memory);
  const auto a = fuzz::read_everything(*from_file, from_file.findings);
  const auto b = fuzz::read_everything(*from_memory, from_memory.findings);
  CHECK(test::codes(from_file.findings).empty());
  CHECK(test::codes(from_memory.findings).empty());
  CHECK(a.exports == 3);
  CHECK(a.imports == 3);
  CHECK(a.resources == 3);
  CHECK(a.messages == 2);
  CHECK(a.relocations == 2);
  CHECK(a.functions == 1);
  CHECK(std::tie(a.exports, a.imports, a.resources, a.messages, a.relocations, a.functions) ==
        std::tie(b.exports, b.imports, b.resources, b.messages, b.relocations, b.functions));
  CHECK(a.text == b.text);
}

TEST_CASE("the other layout is suggested when the bytes look like it") {
  fixtures::PeSpec spec;
  spec.sections[0].content = fixtures::Bytes(0x1000, std::byte{0xcc});
  const auto built = build_pe(spec);
  CHECK(Opened{fixtures::as_loaded(built)}.findings.count("layout-suspect") == 1);
  CHECK(Opened{built}.findings.count("layout-suspect") == 0);
}

TEST_CASE("text stops at the end of its section") {
  fixtures::PeSpec spec;
  spec.section_alignment = spec.file_alignment = 0x80;
  spec.sections[0].content = fixtures::Bytes(0x80, std::byte{'a'});
  const auto built = build_pe(spec);
  const Opened image{built};
  CHECK_FALSE(image->read_text(pe::Rva{built.sections[0].address}, 1000));
}

TEST_CASE("absolute addresses become RVAs inside the image only") {
  const auto built = build_pe();
  const Opened image{built};
  CHECK(image->rva_of_address(0x1'8000'1000) == pe::Rva{0x1000});
  CHECK_FALSE(image->rva_of_address(0x1'7fff'ffff));
  CHECK_FALSE(image->rva_of_address(0x1'8000'0000 + built.size_of_image));
}

}  // namespace
}  // namespace coldtrace
