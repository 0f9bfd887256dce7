#include "coldtrace/pe/address_map.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pe;
using pe::Rva;
using test::Opened;

TEST_CASE("addresses map to offsets and back") {
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x300);
  spec.sections[0].virtual_size = 0x2800;  // a tail of zeros that the file does not store
  const auto built = build_pe(spec);
  const Opened image{built};
  const auto& map = image->addresses();
  const auto start = built.sections[0].offset;
  CHECK(map.to_offset(Rva{0}) == 0U);
  CHECK(map.to_offset(Rva{0x80}) == 0x80U);
  CHECK(map.to_offset(Rva{0x1000}) == start);
  CHECK(map.to_offset(Rva{0x13ff}) == start + 0x3ff);
  CHECK_FALSE(map.to_offset(Rva{0x1400}));
  CHECK(map.is_mapped(Rva{0x1400}));
  CHECK(image->bytes(Rva{0x1400}).empty());
  CHECK(map.is_mapped(Rva{0x3fff}));  // the last page is mapped whole
  CHECK_FALSE(map.is_mapped(Rva{0x4000}));
  CHECK_FALSE(map.is_mapped(Rva{~u32{0}}));
  CHECK(image->bytes(Rva{0x1000}).size() == 0x400);
  CHECK(image->bytes(Rva{0x1100}).data() == image->file().all()->data() + start + 0x100);
  CHECK(map.to_rva(start + 5) == Rva{0x1005});
  CHECK(map.to_rva(3) == Rva{3});
  CHECK_FALSE(map.to_rva(built.bytes.size()));
}

TEST_CASE("alignments below a page, as in Windows XP kernels, map the file as it is") {
  fixtures::PeSpec spec;
  spec.section_alignment = spec.file_alignment = 0x80;
  spec.sections[0].content.resize(0x81);
  const auto built = build_pe(spec);
  const Opened image{built};
  CHECK(image.findings.empty());
  REQUIRE(built.sections[0].address == built.sections[0].offset);
  const auto start = built.sections[0].address;
  CHECK(image->addresses().to_offset(Rva{start}) == start);
  CHECK(image->addresses().to_offset(Rva{start + 0xff}) == start + 0xff);
}

TEST_CASE("odd section headers map as the loader does it") {
  struct Row {
    const char* why;
    void (*bend)(fixtures::PeSection&);
    u32 address;
    std::optional<u64> offset_in_section;
  };
  const auto row = GENERATE(values<Row>({
      {"a virtual size of zero is the raw size", [](auto& s) { s.virtual_size = 0; }, 0x11ff,
       0x1ff},
      {"raw bytes behind the virtual size are there up to the page",
       [](auto& s) { s.virtual_size = 1; }, 0x11ff, 0x1ff},
      {"a raw offset is cut to its sector", [](auto& s) { s.raw_offset = 0x400 + 0x10; }, 0x1000,
       std::nullopt},
      {"without a raw offset there are only zeros", [](auto& s) { s.raw_offset = 0; }, 0x1000,
       std::nullopt},
      {"without raw bytes there are only zeros", [](auto& s) { s.raw_size = 0; }, 0x1000,
       std::nullopt},
  }));
  CAPTURE(row.why);
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x200);
  row.bend(spec.sections[0]);
  const auto built = build_pe(spec);
  const Opened image{built};
  const auto offset = image->addresses().to_offset(Rva{row.address});
  if (row.offset_in_section) {
    CHECK(offset == built.sections[0].offset + *row.offset_in_section);
  } else if (spec.sections[0].raw_offset.value_or(0) != 0) {
    CHECK(offset == 0x400U);
  } else {
    CHECK_FALSE(offset);
    CHECK(image->addresses().is_mapped(Rva{row.address}));
  }
}

TEST_CASE("every byte of overlapping sections belongs to one of them") {
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x1800);
  spec.sections.push_back(spec.sections[0]);
  spec.sections[1].address = 0x2000;
  const auto built = build_pe(spec);
  const Opened image{built};
  CHECK(image.findings.count("section-overlap") == 1);
  for (u32 address = 0x1000; address < 0x4000; address += 0x80) {
    const auto offset = image->addresses().to_offset(Rva{address});
    if (offset) CHECK(image->addresses().to_rva(*offset).has_value());
  }
  // One address after another, forwards, backwards and across sections.
  pe::AddressMap::Offsets offsets{image->addresses()};
  for (u32 step : {0x80U, 0x1f80U, ~u32{0x7f}})
    for (u32 i = 0, address = 0x400; i < 300; ++i, address += step)
      CHECK(offsets.find(Rva{address}) == image->addresses().to_offset(Rva{address}));
}

TEST_CASE("headers hide no section, whatever their size says") {
  fixtures::PeSpec spec;
  spec.size_of_headers = ~u32{0};
  spec.sections[0].content.resize(0x2000);
  const auto built = build_pe(spec);
  const Opened image{built};
  CHECK(image.findings.count("headers-range") == 1);
  CHECK(image->addresses().to_offset(Rva{0x1000}) == built.sections[0].offset);
}

}  // namespace
}  // namespace coldtrace
