#include "coldtrace/pe/resources.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::build_pe;
using test::Opened;

fixtures::PeSpec spec_with_resources() {
  fixtures::PeSpec spec;
  spec.resources = {{24U, 1U, 0x409, fixtures::to_bytes("<assembly/>")},
                    {24U, 2U, 0x407, fixtures::to_bytes("zwei")},
                    {"WEVT_TEMPLATE", "EVENTS", 0x409, fixtures::to_bytes("CRIM")}};
  return spec;
}

constexpr u32 root_entries = 16;  // behind the root directory's header

TEST_CASE("resources are found by type, name and language") {
  Opened image{spec_with_resources()};
  const auto resources = pe::read_resources(*image, image.findings);
  CHECK(image.findings.empty());
  REQUIRE(resources.size() == 3);
  CHECK(pe::to_string(resources[0].type) == "WEVT_TEMPLATE");
  CHECK(pe::to_string(resources[0].name) == "EVENTS");
  CHECK(resources[1].type.is(24));
  CHECK_FALSE(resources[1].type.is("24"));
  CHECK(resources[2].name.is(2));
  CHECK(resources[2].language == 0x407);
  CHECK(resources[2].code_page == 1252);

  const auto manifests = pe::find_resources(*image, "WEVT_TEMPLATE", image.findings);
  REQUIRE(manifests.size() == 1);
  CHECK(manifests[0].content(*image).size() == 4);
  REQUIRE(manifests[0].offset);
  CHECK(core::load<u32>(*image->file().all(), *manifests[0].offset) == 0x4d495243U);
  CHECK(pe::find_resources(*image, 24, image.findings).size() == 2);
  CHECK(pe::find_resources(*image, "ABSENT", image.findings).empty());
}

TEST_CASE("damaged resource trees are findings") {
  struct Row {
    const char* why;
    u32 field;  // offset in the section
    u32 content;
    const char* code;
  };
  const auto row = GENERATE(values<Row>({
      {"a type that leads back to the root", root_entries + 4, 0x8000'0000, "resource-loop"},
      {"both types are one directory", root_entries + 12, 0x8000'0020 + 0, "resource-"},
      {"a directory behind the end", root_entries + 4, 0xfff0'0000, "resource-range"},
      {"a leaf where a type should be", root_entries + 4, 0x40, "resource-depth"},
      {"a name behind the end", root_entries, 0xffff'fff0, "resource-name"},
      {"65,535 named entries", 12, 0x0001'ffff, "resource-count"},
  }));
  CAPTURE(row.why);
  auto built = build_pe(spec_with_resources());
  built.patch<u32>(built.directories[2].offset + row.field, row.content);
  Opened image{built};
  (void)pe::read_resources(*image, image.findings);
  const auto found = test::codes(image.findings);
  CAPTURE(found);
  CHECK(found.find(row.code) != std::string::npos);
}

TEST_CASE("data that the file does not have is cut, with a finding") {
  auto built = build_pe(spec_with_resources());
  // The only leaf whose content says "zwei": its entry lies right before.
  Opened good{built};
  const auto all = pe::read_resources(*good, good.findings);
  const auto entry = all[2].offset.value() - 16;
  built.patch<u32>(entry + 4, 0x7000'0000);
  Opened image{built};
  const auto resources = pe::read_resources(*image, image.findings);
  REQUIRE(resources.size() == 3);
  CHECK(resources[2].size == 0x7000'0000);
  CHECK(resources[2].stored < 0x1000);
  CHECK(resources[2].content(*image).size() == resources[2].stored);
  CHECK(image.findings.count("resource-range") == 1);
}

TEST_CASE("data outside the file has no offset") {
  auto built = build_pe(spec_with_resources());
  Opened good{built};
  const auto entry = pe::read_resources(*good, good.findings)[2].offset.value() - 16;
  built.patch<u32>(entry, 0x7000'0000);
  Opened image{built};
  const auto resources = pe::read_resources(*image, image.findings);
  REQUIRE(resources.size() == 3);
  CHECK(resources[1].offset);
  CHECK_FALSE(resources[2].offset);
  CHECK(resources[2].stored == 0);
  CHECK(resources[2].content(*image).empty());
}

TEST_CASE("a tree whose directories overlap costs no more than its bytes") {
  // Every entry leads to a directory of its own that starts 8 bytes later.
  fixtures::PeSpec spec;
  constexpr u32 count = 0x2000;
  fixtures::Bytes tree(count * 8);
  spec.sections.push_back({".rsrc", 0x4000'0040, tree, {}, {}, {}, {}});
  spec.directories = {{2, {0x2000, count * 8}}};
  auto built = build_pe(spec);
  const auto base = built.sections[1].offset;
  for (u32 i = 0; i < count; ++i) {
    built.patch<u32>(base + i * 8, i);
    built.patch<u32>(base + i * 8 + 4, 0x8000'0000 | (i * 8));
  }
  Opened image{built};
  (void)pe::read_resources(*image, image.findings);
  CHECK(image.findings.count("resource-count") + image.findings.count("resource-depth") > 0);
}

TEST_CASE("names that share their bytes are cut off at the section's size") {
  fixtures::PeSpec spec;
  constexpr u32 count = 0x800;
  spec.sections.push_back({".rsrc", 0x4000'0040, fixtures::Bytes(0x20000), {}, {}, {}, {}});
  spec.directories = {{2, {0x2000, 0x20000}}};
  auto built = build_pe(spec);
  const auto base = built.sections[1].offset;
  built.patch<u16>(base + 12, count);
  for (u32 i = 0; i < count; ++i) {
    built.patch<u32>(base + 16 + i * 8, 0x8000'8000);
    built.patch<u32>(base + 16 + i * 8 + 4, 0x6000);
  }
  built.patch<u16>(base + 0x8000, 0x8000);
  Opened image{built};
  u64 text = 0;
  for (const auto& resource : pe::read_resources(*image, image.findings))
    text += resource.type.units.size();
  CHECK(text <= 0x20000 + (1 << 20));
  CHECK(image.findings.count("resource-name") > 0);
}

TEST_CASE("a long name of a type is not repeated for thousands of its resources") {
  // Found by fuzzing: the name counted once, and was listed with every resource.
  fixtures::PeSpec spec;
  constexpr u32 count = 0x1000;
  fixtures::ByteWriter tree;
  tree.write_zeros(12).write_u16(1).write_u16(0).write_u32(0x8001'0000).write_u32(0x8000'0020);
  tree.pad_to(0x20).write_zeros(14).write_u16(count);
  for (u32 i = 0; i < count; ++i) tree.write_u32(i).write_u32(0x18000);
  tree.pad_to(0x10000).write_u16(0x4000).pad_to(0x20000);
  spec.sections.push_back({".rsrc", 0x4000'0040, tree.bytes(), {}, {}, {}, {}});
  spec.directories = {{2, {0x2000, 0x20000}}};
  Opened image{spec};
  u64 text = 0;
  const auto resources = pe::read_resources(*image, image.findings);
  CHECK(resources.size() == count);
  for (const auto& resource : resources) text += resource.type.units.size();
  CHECK(text <= 0x20000 + (1 << 20));
  CHECK(image.findings.count("resource-name") > 0);
}

TEST_CASE("types with a number have names") {
  CHECK(pe::resource_type_name(16) == "version");
  CHECK(pe::resource_type_name(11) == "message table");
  CHECK(pe::resource_type_name(24) == "manifest");
  CHECK(pe::resource_type_name(25).empty());
  CHECK(pe::resource_type_name(13).empty());
  CHECK(pe::resource_type_name(1000).empty());
}

}  // namespace
}  // namespace coldtrace
