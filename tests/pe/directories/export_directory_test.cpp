#include "coldtrace/pe/export_directory.hpp"

#include <cstring>

#include "coldtrace/core/text.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pe;
using test::Opened;

fixtures::PeSpec spec_with_exports() {
  fixtures::PeSpec spec;
  spec.exports = fixtures::PeExports{"fixture.dll",
                                     5,
                                     {{"Beta", 5, 0x1000},
                                      {"Alpha", 7, 0, "NTDLL.RtlAlpha"},
                                      {"", 8, 0x1000},
                                      {"Alias", 5, 0x1000}}};
  return spec;
}

// Counting gives as many, and finds the same.
void check_count(const pe::Image& image) {
  core::Findings of_reading;
  core::Findings of_counting;
  const auto exports = pe::read_export_directory(image, of_reading);
  const auto count = pe::count_exports(image, of_counting);
  REQUIRE(exports.has_value() == count.has_value());
  if (exports) CHECK(*count == (*exports ? (*exports)->exports.size() : 0));
  test::check_same(of_counting, of_reading);
}

// How many exports the tables give as "PE Format" has them, by a loop of its own over the file: one
// for each name that can be read and whose ordinal is one of a function, and one for each other
// function with an address. Tables end with what their section stores, padding to 512 bytes
// included, and have 65,536 entries at most, as ordinals do.
std::size_t count_by_hand(const fixtures::PeImage& image) {
  const auto stored = [&](u32 address) -> u64 {
    for (const auto& section : image.sections) {
      const auto end = section.address + (section.size + 511) / 512 * 512;
      if (address >= section.address && address < end) return end - address;
    }
    return address < image.size_of_headers ? image.size_of_headers - address : 0;
  };
  const auto offset = [&](u32 address) {
    for (const auto& section : image.sections)
      if (address >= section.address && address - section.address < 0x1000)
        return section.offset + (address - section.address);
    return address;
  };
  const auto field = [&](u32 at) {
    return *core::load<u32>(image.view(), image.directories[0].offset + at);
  };
  const auto entries = [&](u32 declared, u32 address, u64 size) {
    return std::min<u64>({declared, 0x10000, stored(address) / size});
  };
  const auto functions = field(28), names = field(32), ordinals = field(36);
  std::vector<std::size_t> exports(entries(field(20), functions, 4));
  const auto named = std::min(entries(field(24), names, 4), entries(field(24), ordinals, 2));
  for (u32 i = 0; i < named; ++i) {
    const auto name = *core::load<u32>(image.view(), offset(names) + 4 * i);
    const auto index = *core::load<u16>(image.view(), offset(ordinals) + 2 * i);
    const auto room = stored(name);
    const auto* const text =
        room == 0 ? nullptr : core::to_chars(image.view()).data() + offset(name);
    if (index < exports.size() && text && std::memchr(text, 0, room)) ++exports[index];
  }
  std::size_t count = 0;
  for (u32 i = 0; i < exports.size(); ++i) {
    const auto address = *core::load<u32>(image.view(), offset(functions) + 4 * i);
    count += std::max<std::size_t>(exports[i], address != 0 ? 1 : 0);
  }
  return count;
}

pe::ExportDirectory read(Opened& image) {
  check_count(*image);
  auto exports = pe::read_export_directory(*image, image.findings);
  REQUIRE(exports);
  REQUIRE(*exports);
  return std::move(**exports);
}

TEST_CASE("exports are listed with and without names, forwarders and aliases") {
  Opened image{spec_with_exports()};
  const auto exports = read(image);
  CHECK(image.findings.empty());
  CHECK(exports.module_name == "fixture.dll");
  CHECK(pe::read_module_name(*image) == "fixture.dll");
  CHECK(exports.ordinal_base == 5);
  REQUIRE(exports.exports.size() == 4);
  CHECK(exports.exports[0].name == "Alias");
  CHECK(exports.exports[1].name == "Beta");
  CHECK(exports.exports[1].ordinal == 5);
  CHECK(value(exports.exports[1].address) == 0x1000);
  CHECK_FALSE(exports.exports[1].is_forwarder);
  CHECK(exports.exports[2].name == "Alpha");
  CHECK(exports.exports[2].ordinal == 7);
  CHECK(exports.exports[2].is_forwarder);
  CHECK(exports.exports[2].forwarder == "NTDLL.RtlAlpha");
  CHECK(exports.exports[3].name.empty());
  CHECK(exports.exports[3].ordinal == 8);
}

TEST_CASE("exports stay in the order of their ordinals where these wrap") {
  auto built = build_pe(spec_with_exports());
  constexpr u32 base_offset = 16;
  built.patch<u32>(built.directories[0].offset + base_offset, 0xffff'fffe);
  Opened image{built};
  const auto exports = read(image).exports;
  REQUIRE(exports.size() == 4);
  CHECK(exports[0].ordinal == 0);
  CHECK(exports[0].name == "Alpha");
  CHECK(exports[1].ordinal == 1);
  CHECK(exports[2].ordinal == 0xffff'fffe);
  CHECK(exports[2].name == "Alias");
  CHECK(exports[3].name == "Beta");
}

TEST_CASE("an image without exports has none") {
  Opened image{build_pe()};
  check_count(*image);
  const auto exports = pe::read_export_directory(*image, image.findings);
  REQUIRE(exports);
  CHECK_FALSE(*exports);
  CHECK(pe::read_module_name(*image).empty());
}

TEST_CASE("damaged export tables lose what is damaged, with a finding") {
  struct Row {
    const char* why;
    u32 field;  // offset in the directory
    u32 content;
    const char* code;
    std::size_t left;  // exports that are still there
  };
  // Fields: 12 Name, 20 NumberOfFunctions, 24 NumberOfNames, 28 and on: the tables' RVAs.
  const auto row = GENERATE(values<Row>({
      {"four billion functions", 20, ~u32{0}, "export-count", 20},
      {"four billion names", 24, ~u32{0}, "export-count", 94},
      {"no functions", 20, 0, "export-name", 0},
      {"the function table is outside", 28, 0x7000'0000, "export-count", 0},
      {"the name table is outside", 32, 0x7000'0000, "export-count", 3},
      {"the ordinal table is outside", 36, 0xffff'ffff, "export-count", 3},
  }));
  CAPTURE(row.why);
  auto built = build_pe(spec_with_exports());
  built.patch<u32>(built.directories[0].offset + row.field, row.content);
  Opened image{built};
  const auto exports = read(image);
  CHECK(image.findings.count(row.code) >= 1);
  CHECK(count_by_hand(built) == row.left);
  CHECK(exports.exports.size() == row.left);
}

TEST_CASE("every damaged byte of an export directory is counted as it is read") {
  auto spec = spec_with_exports();
  spec.exports->entries.push_back({"Gamma", 12, 0, "NTDLL.RtlGamma"});
  const auto built = build_pe(spec);
  const auto directory = built.directories[0];
  for (u32 at = 0; at < directory.size; ++at)
    for (const int content : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      auto damaged = built;
      damaged.patch<u8>(directory.offset + at, static_cast<u8>(content));
      CAPTURE(at, content);
      Opened image{damaged};
      check_count(*image);
      const auto exports = pe::read_export_directory(*image, image.findings);
      REQUIRE(exports);
      REQUIRE((*exports)->exports.size() == count_by_hand(damaged));
    }
}

TEST_CASE("a module name that is nowhere is empty") {
  auto built = build_pe(spec_with_exports());
  built.patch<u32>(built.directories[0].offset + 12, 0x7000'0000);
  Opened image{built};
  CHECK(read(image).module_name.empty());
}

TEST_CASE("an export directory that points into itself ends") {
  auto built = build_pe(spec_with_exports());
  const auto at = built.directories[0];
  for (u32 field = 12; field < 40; field += 4)
    built.patch<u32>(at.offset + field, field == 20 || field == 24 ? 0x10000 : at.address);
  Opened image{built};
  CHECK(read(image).exports.size() == count_by_hand(built));
}

TEST_CASE("a forwarder that cannot be read is still a forwarder") {
  auto spec = spec_with_exports();
  spec.exports->entries = {{"Alpha", 5, 0, "NTDLL.RtlAlpha"}};
  auto built = build_pe(spec);
  // All bytes from the forwarder to the end of the stored section without a NUL.
  const auto text = *core::load<u32>(built.bytes, built.directories[0].offset + 40);
  const auto offset = built.offset_of(text);
  for (auto at = offset; at < built.bytes.size(); ++at) built.patch<u8>(at, 'x');
  Opened image{built};
  const auto exports = read(image);
  CHECK(image.findings.count("export-forwarder") == 1);
  REQUIRE(exports.exports.size() == 1);
  CHECK(exports.exports[0].is_forwarder);
  CHECK(exports.exports[0].forwarder.empty());
}

TEST_CASE("a directory outside the image is an error with its place") {
  fixtures::PeSpec spec;
  spec.directories = {{0, {0x7000'0000, 40}}};
  Opened image{spec};
  check_count(*image);
  const auto exports = pe::read_export_directory(*image, image.findings);
  REQUIRE_FALSE(exports);
  CHECK(exports.error().fault == core::Fault::out_of_bounds);
}

TEST_CASE("names longer than 4,096 characters are read") {
  auto spec = spec_with_exports();
  const std::string name(5000, 'n');
  spec.exports->entries = {{name, 5, 0x1000}};
  Opened image{spec};
  CHECK(read(image).exports.at(0).name == name);
}

}  // namespace
}  // namespace coldtrace
