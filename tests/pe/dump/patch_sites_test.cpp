#include "coldtrace/pe/patch_sites.hpp"

#include "fixtures/builders/byte_writer.hpp"
#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using pe::PatchRule;
using pe::PatchSite;
using test::Opened;

constexpr u64 base = 0x1'8000'0000;
constexpr u32 base_32 = 0x1000'0000;
constexpr u32 new_header_field = 60;

struct Found {
  std::vector<PatchSite> sites;
  core::Findings findings;

  // (RVA, size) of those of one rule.
  std::vector<std::pair<u32, u32>> of(PatchRule rule) const {
    std::vector<std::pair<u32, u32>> places;
    for (const auto& site : sites)
      if (site.rule == rule) places.emplace_back(value(site.rva), site.size);
    return places;
  }
};

Found find(const fixtures::PeSpec& spec, std::vector<PatchSite> more = {}) {
  Opened image{spec};
  REQUIRE(image);
  const pe::ImageTables tables{*image};
  core::Findings unused;
  auto imports = pe::read_imports(*image, unused);
  for (auto& module : pe::read_delay_imports(*image, unused)) imports.push_back(std::move(module));
  Found found;
  found.sites = pe::find_patch_sites(tables, imports, std::move(more), found.findings);
  for (std::size_t i = 1; i < found.sites.size(); ++i)
    CHECK(u64{value(found.sites[i - 1].rva)} + found.sites[i - 1].size <=
          value(found.sites[i].rva));
  return found;
}

using Places = std::vector<std::pair<u32, u32>>;

// Source: "PE Format", optional header: ImageBase is at 28 of PE32 and at 24 of PE32+.
TEST_CASE("the image base in the header is a site") {
  const bool plus = GENERATE(true, false);
  fixtures::PeSpec spec;
  spec.pe32_plus = plus;
  if (!plus) {
    spec.machine = 0x14c;
    spec.image_base = base_32;
  }
  const auto built = fixtures::build_pe(spec);
  const auto header = *core::load<u32>(built.view(), new_header_field) + 24;
  const auto found = find(spec);
  CHECK(found.of(PatchRule::header_base) ==
        (plus ? Places{{header + 24, 8}} : Places{{header + 28, 4}}));
  CHECK(found.sites.size() == 1);
}

TEST_CASE("each import slot is a site, and those that are filled later say so") {
  fixtures::PeSpec spec;
  spec.imports = {{"KERNEL32.dll", {{"CreateFileW"}, {"", 7}}}};
  spec.delay_imports = {{"ole32.dll", {{"CoInitialize"}}}};
  const auto built = fixtures::build_pe(spec);
  // FirstThunk of the descriptor, at 16; of a delay-load descriptor the address table, at 12.
  const auto slots = *core::load<u32>(built.view(), built.directories[1].offset + 16);
  const auto delayed = *core::load<u32>(built.view(), built.directories[13].offset + 12);
  const auto found = find(spec);
  CHECK(found.of(PatchRule::import_address) == Places{{slots, 8}, {slots + 8, 8}});
  CHECK(found.of(PatchRule::delayed_import) == Places{{delayed, 8}});
}

// Source: Windows SDK, winnt.h, IMAGE_LOAD_CONFIG_DIRECTORY64 and IMAGE_TLS_DIRECTORY64.
TEST_CASE("what load configuration and TLS directory name is written by the loader") {
  fixtures::PeSpec spec;
  spec.sections.push_back({.name = ".data", .characteristics = 0xc000'0040});
  spec.sections[1].content.resize(0x100);
  ByteWriter config;
  config.write_u32(148).pad_to(88).write_u64(base + 0x2010);  // SecurityCookie
  config.pad_to(112).write_u64(base + 0x2020);                // GuardCFCheckFunctionPointer
  spec.load_config = config.pad_to(148).bytes();
  spec.tls = ByteWriter{}.pad_to(16).write_u64(base + 0x2030).pad_to(40).bytes();
  const auto found = find(spec);
  CHECK(found.of(PatchRule::security_cookie) == Places{{0x2010, 8}});
  CHECK(found.of(PatchRule::loader_pointer) == Places{{0x2020, 8}});
  CHECK(found.of(PatchRule::tls_index) == Places{{0x2030, 4}});
  CHECK(found.findings.empty());
}

TEST_CASE("lock prefixes of x86 are single bytes, and their list ends with zero or its section") {
  fixtures::PeSpec spec;
  spec.pe32_plus = false;
  spec.machine = 0x14c;
  spec.image_base = base_32;
  spec.sections[0].content.assign(0x20, std::byte{0xf0});
  const bool ended = GENERATE(true, false);
  ByteWriter list;
  list.write_u32(base_32 + 0x1004).write_u32(base_32 + 0x1008);
  if (ended)
    list.write_u32(0);
  else
    while (list.size() < 0x200) list.write_u32(base_32 + 0x100c);
  list.write_u32(base_32 + 0x1010);
  spec.sections.push_back(
      {.name = ".rdata", .characteristics = 0x4000'0040, .content = list.bytes()});
  spec.load_config =
      ByteWriter{}.write_u32(64).pad_to(32).write_u32(base_32 + 0x2000).pad_to(64).bytes();
  const auto found = find(spec);
  if (ended)
    CHECK(found.of(PatchRule::lock_prefix) == Places{{0x1004, 1}, {0x1008, 1}});
  else
    CHECK(found.of(PatchRule::lock_prefix) ==
          Places{{0x1004, 1}, {0x1008, 1}, {0x100c, 1}, {0x1010, 1}});
}

TEST_CASE("relocations of types that are not applied are sites, the others are expected bytes") {
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x40);
  spec.relocations = {{0x1000, 10}, {0x1010, 3}, {0x1020, 7}};
  CHECK(find(spec).of(PatchRule::unread_relocation) == Places{{0x1020, 8}});
}

// Source: Windows SDK, winnt.h, IMAGE_DYNAMIC_RELOCATION_TABLE and what follows it.
struct Dynamic {
  u64 symbol;
  std::vector<u32> entries;
  u32 entry_size;
};

fixtures::PeSpec with_dynamic(const std::vector<Dynamic>& all, u32 version = 1, u32 cut = 0) {
  ByteWriter relocations;
  for (const auto& one : all) {
    ByteWriter block;
    block.write_u32(0x1000);
    block.write_u32(8 + one.entry_size * static_cast<u32>(one.entries.size()));
    for (const auto entry : one.entries)
      one.entry_size == 4 ? block.write_u32(entry) : block.write_u16(entry);
    relocations.write_u64(one.symbol).write_u32(static_cast<u32>(block.size()) + cut);
    relocations.write_bytes(block.view());
  }
  ByteWriter table;
  table.write_u64(0);  // so that its offset is not 0
  table.write_u32(version).write_u32(static_cast<u32>(relocations.size()));
  table.write_bytes(relocations.view());
  fixtures::PeSpec spec;
  spec.sections[0].content.resize(0x200);
  spec.sections.push_back(
      {.name = ".dyn", .characteristics = 0x4000'0040, .content = table.bytes()});
  ByteWriter config;
  config.write_u32(232).pad_to(224).write_u32(8).write_u16(2);
  spec.load_config = config.pad_to(232).bytes();
  return spec;
}

TEST_CASE("dynamic relocations are sites of their kinds, without padding") {
  // The low 12 bits of an entry are the offset in the page.
  const auto found = find(with_dynamic({{3, {0x0005'1010}, 4},
                                        {4, {0x1040, 0}, 2},
                                        {5, {0x0080, 0x1000}, 2},
                                        {0x1'0000, {0x00c0}, 2}}));
  CHECK(found.of(PatchRule::import_call) == Places{{0x1010, 12}});
  CHECK(found.of(PatchRule::indirect_branch) == Places{{0x1040, 12}});
  CHECK(found.of(PatchRule::switch_branch) == Places{{0x1000, 5}, {0x1080, 5}});
  CHECK(found.of(PatchRule::dynamic_value) == Places{{0x10c0, 8}});
  CHECK(found.findings.empty());
}

TEST_CASE("dynamic relocations that are not understood are told, and the others are read") {
  struct Row {
    const char* why;
    fixtures::PeSpec spec;
    std::size_t calls;
  };
  auto no_section = with_dynamic({{3, {0x10}, 4}});
  no_section.load_config[228] = std::byte{99};
  const auto row = GENERATE_COPY(values<Row>({
      {"a kind that is not known", with_dynamic({{9, {0x10}, 4}, {3, {0x20}, 4}}), 1},
      {"another version", with_dynamic({{3, {0x10}, 4}}, 2), 0},
      {"longer than the table", with_dynamic({{3, {0x10}, 4}}, 1, 1), 0},
      {"in a section that is not there", no_section, 0},
  }));
  CAPTURE(row.why);
  const auto found = find(row.spec);
  CHECK(found.findings.count("dynamic-relocations") == 1);
  CHECK_FALSE(found.findings.has_warnings());
  CHECK(found.of(PatchRule::import_call).size() == row.calls);
}

TEST_CASE("of sites that overlap the first is kept, and the other begins behind it") {
  const auto found = find({}, {{pe::Rva{0x1008}, 8, PatchRule::service_row},
                               {pe::Rva{0x1000}, 12, PatchRule::import_call},
                               {pe::Rva{0x1004}, 4, PatchRule::dynamic_value},
                               {pe::Rva{0xffff'fff8}, 16, PatchRule::service_row}});
  CHECK(found.of(PatchRule::import_call) == Places{{0x1000, 12}});
  CHECK(found.of(PatchRule::dynamic_value).empty());
  CHECK(found.of(PatchRule::service_row) == Places{{0x100c, 4}, {0xffff'fff8, 16}});
}

TEST_CASE("addresses outside the image are no sites") {
  fixtures::PeSpec spec;
  ByteWriter config;
  config.write_u32(148).pad_to(88).write_u64(1).pad_to(112).write_u64(~u64{0});
  spec.load_config = config.pad_to(148).bytes();
  spec.tls = ByteWriter{}.pad_to(16).write_u64(base - 1).pad_to(40).bytes();
  CHECK(find(spec).sites.size() == 1);
}

}  // namespace
}  // namespace coldtrace
