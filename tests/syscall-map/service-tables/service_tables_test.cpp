#include "tests/syscall-map/service-tables/service_tables_test.hpp"

#include "coldtrace/syscall-map/services_tab.hpp"
#include "coldtrace/syscall-map/stubs/name_hash.hpp"
#include "coldtrace/syscall-map/table_names.hpp"
#include "fixtures/builders/byte_writer.hpp"

namespace coldtrace {
namespace {

using syscall_map::Confidence;
using syscall_map::find_services_tab;
using syscall_map::LocatedServiceTable;
using syscall_map::ServiceTables;
using syscall_map::TableForm;

constexpr u64 most_entries = 4096;

// What holds whatever the bytes are.
void check_plausible(const Searched& searched) {
  if (!searched.image) return;
  const auto& [tables, findings] = searched.found;
  CHECK(tables.empty() ==
        (findings.count("no-service-table") + findings.count("service-table-elsewhere") == 1));
  CHECK(tables.size() <= 64);
  for (const auto& table : tables) {
    CHECK(table.entries.size() <= most_entries);
    CHECK_FALSE(table.evidence.empty());
    for (const auto& entry : table.entries)
      if (value(entry.target) >= searched.image->optional_header().size_of_image)
        FAIL("an entry leads out of the image");
  }
}

const std::string kernels[] = {
    "tables-x86-kernel/ntoskrnl.exe",      "tables-x86-kernel-hidden/ntoskrnl.exe",
    "tables-x64-kernel-2003/ntoskrnl.exe", "tables-x64-kernel-va64/ntoskrnl.exe",
    "tables-x64-kernel-far/ntoskrnl.exe",  "tables-x64-kernel-rva32/ntoskrnl.exe"};
const std::string win32ks[] = {"tables-x64-win32k-va64/win32k.sys",
                               "tables-x64-win32k-rva32/win32k.sys",
                               "tables-x86-win32k/win32k.sys"};

std::vector<std::string> all_images() {
  std::vector<std::string> names{std::begin(kernels), std::end(kernels)};
  names.insert(names.end(), std::begin(win32ks), std::end(win32ks));
  return names;
}

TEST_CASE("a file that ends anywhere in its tables has no entry that it does not store") {
  for (const auto& name : all_images()) {
    const auto file = load_stub_image(name);
    if (!file) return;
    CAPTURE(name);
    const auto whole = search(file->bytes);
    REQUIRE_FALSE(whole.found.tables.empty());
    const auto& truth = whole.found.tables.front();
    const auto start = *truth.file_offset - 16;
    const auto end = start + truth.entries.size() * (entry_size(truth.form) + 1) + 128;
    for (u64 cut = start; cut < std::min<u64>(end, file->bytes.size()); ++cut) {
      CAPTURE(cut);
      const auto searched = search(core::ByteView{file->bytes}.first(cut));
      check_plausible(searched);
      for (const auto& table : searched.found.tables) {
        if (table.rva != truth.rva) continue;
        const auto stored = (cut - *truth.file_offset) / entry_size(truth.form);
        CHECK(table.entries.size() <= stored);
        for (std::size_t i = 0; i < table.entries.size(); ++i)
          CHECK(table.entries[i].target == truth.entries[i].target);
        CHECK(
            (table.entries.size() == truth.entries.size() || table.confidence == Confidence::low));
      }
    }
  }
}

TEST_CASE("a limit that its table contradicts is a finding, and no reason to read on") {
  const auto limit = GENERATE(values<u32>({0, 1, 42, 44, 0x1000, 0x1001, 0x8000'0000, ~0u}));
  for (const auto& name : all_images()) {
    const auto file = load_stub_image(name);
    if (!file) return;
    CAPTURE(name, limit);
    auto bytes = file->bytes;
    const auto whole = search(bytes);
    const auto& truth = whole.found.tables.front();
    const auto at = whole.image->addresses().to_offset(*truth.limit);
    patch_u32(bytes, *at, limit);
    const auto searched = search(bytes);
    check_plausible(searched);
    if (truth.confidence == Confidence::medium) {
      // Nothing but the limit said where that table is.
      CHECK(searched.found.findings.count("no-service-table") == 1);
      continue;
    }
    REQUIRE_FALSE(searched.found.tables.empty());
    const auto& table = searched.found.tables.front();
    CHECK(table.rva == truth.rva);
    // A limit that is too low says nothing wrong of RVAs, which have no relocations to count.
    // The stubs of a kernel still say how many there are, where the limit is found by its value.
    const bool found_by_value =
        name.find("x64-kernel") != std::string::npos || name.find("hidden") != std::string::npos;
    if (found_by_value) {
      CHECK(table.entries.size() == services);
      CHECK(table.limit != truth.limit);
    } else if (truth.form != TableForm::rva32 || limit > truth.entries.size() || limit == 0) {
      CHECK(table.confidence == Confidence::low);
      CHECK(searched.found.findings.count("service-table-limit") +
                searched.found.findings.count("service-table-count") +
                searched.found.findings.count("service-table-target") +
                searched.found.findings.count("service-table-entry") +
                searched.found.findings.count("service-table-relocation") +
                searched.found.findings.count("service-table-arguments") >
            0);
    }
  }
}

TEST_CASE("entries that do not lead to code lower the confidence") {
  for (const auto& name : all_images()) {
    const auto file = load_stub_image(name);
    if (!file) return;
    CAPTURE(name);
    auto bytes = file->bytes;
    const auto whole = search(bytes);
    const auto& truth = whole.found.tables.front();
    const auto base = truth.form == TableForm::rva32 ? 0 : truth.address - value(truth.rva);
    // The headers are not code, and the service of number 2 is not exported.
    const u64 target = base + 0x10;
    const auto size = entry_size(truth.form);
    patch(bytes, *truth.file_offset + 2 * size, std::as_bytes(std::span{&target, 1}).first(size));
    const auto searched = search(bytes);
    check_plausible(searched);
    for (const auto& table : searched.found.tables)
      if (table.rva == truth.rva) CHECK(table.confidence == Confidence::low);
  }
}

// Nothing was found, though the kernel's stubs were there to search with.
void check_searched_in_vain(const Searched& searched) {
  check_plausible(searched);
  REQUIRE(searched.found.findings.count("no-service-table") == 1);
  for (const auto& finding : searched.found.findings.all())
    if (finding.code == core::Name{"no-service-table"})
      CHECK_THAT(finding.text, Catch::Contains("43 stubs with numbers, 7 exported services"));
}

TEST_CASE("a file full of what a table begins with is searched once") {
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  const auto truth = search(kernel->bytes);
  const auto target = only_table(truth).entries[9].target;  // NtClose, exported
  fixtures::ByteWriter words;
  for (u64 i = 0; i < 1'000'000; ++i) words.write_u32(value(target));
  const auto content = GENERATE(0, 1, 2);
  if (content == 1)
    for (std::size_t i = 0; i + 4 <= words.size(); i += 4) words.patch(i, u32{services});
  if (content == 2)
    for (std::size_t i = 0; i + 4 <= words.size(); i += 4) words.patch(i, u32{0x0404});
  CAPTURE(content);
  const auto file =
      fixtures::build_pe(kernel_with(*kernel, {{".rdata", 0x4000'0040, words.bytes()}}));
  const auto searched = search(file.view());
  check_searched_in_vain(searched);
}

TEST_CASE("tables that overlap and repeat are cut off with a finding") {
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  const auto truth = search(kernel->bytes);
  fixtures::ByteWriter words;
  for (unsigned copy = 0; copy < 100; ++copy)
    for (const auto& entry : only_table(truth).entries) words.write_u32(value(entry.target));
  const auto file =
      fixtures::build_pe(kernel_with(*kernel, {{".rdata", 0x4000'0040, words.bytes()}}));
  const auto searched = search(file.view());
  check_plausible(searched);
  CHECK(searched.found.tables.size() == 16);
  CHECK(searched.found.findings.count("service-table-search") == 1);
  CHECK(searched.found.findings.count("service-table-ambiguous") == 1);
  for (const auto& table : searched.found.tables) CHECK(table.confidence == Confidence::low);
}

TEST_CASE("a limit that could be at two places is at none") {
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  const auto truth = search(kernel->bytes);
  const auto limits = GENERATE(0, 1, 2);
  CAPTURE(limits);
  fixtures::ByteWriter words;
  for (const auto& entry : only_table(truth).entries) words.write_u32(value(entry.target));
  words.pad_to(words.size() + 64);
  for (int i = 0; i < limits; ++i) {
    words.write_u32(services);
    for (const auto& entry : only_table(truth).entries) words.write_u8(*entry.argument_bytes);
    words.align(16);
  }
  const auto file =
      fixtures::build_pe(kernel_with(*kernel, {{".rdata", 0x4000'0040, words.bytes()}}));
  const auto searched = search(file.view());
  const auto& table = only_table(searched);
  CHECK(table.entries.size() == services);
  CHECK(table.limit.has_value() == (limits == 1));
  CHECK(table.entries[1].argument_bytes.has_value() == (limits == 1));
  CHECK(searched.found.findings.count("service-table-limit") == (limits == 2 ? 1 : 0));
}

TEST_CASE("sections that share their bytes are not searched again and again") {
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  fixtures::ByteWriter words;
  for (u64 i = 0; i < 500'000; ++i) words.write_u32(0x1000);
  auto spec = kernel_with(*kernel, {{".rdata", 0x4000'0040, words.bytes()}});
  auto file = fixtures::build_pe(spec);
  for (unsigned i = 0; i < 60; ++i) {
    auto section = spec.sections[1];
    section.content = {};
    section.raw_offset = file.sections[1].offset;
    section.raw_size = file.sections[1].size;
    section.virtual_size = file.sections[1].size;
    section.address = 0x1000'0000 + i * 0x20'0000;
    spec.sections.push_back(section);
  }
  file = fixtures::build_pe(spec);
  check_searched_in_vain(search(file.view()));
}

TEST_CASE("relocations that point everywhere prove nothing") {
  const auto type = GENERATE(values<u16>({3, 10}));
  const auto kernel = load_stub_image(type == 3 ? "tables-x86-kernel/ntoskrnl.exe"
                                                : "tables-x64-kernel-va64/ntoskrnl.exe");
  if (!kernel) return;
  fixtures::ByteWriter words;
  const auto truth = search(kernel->bytes);
  const auto target = only_table(truth).entries[9].target;
  auto spec = kernel_with(*kernel, {});
  for (u64 i = 0; i < 400'000; ++i) words.write_u64(spec.image_base + value(target));
  if (type == 3) {
    spec.pe32_plus = false;
    spec.machine = 0x14c;
  }
  const u32 step = type == 3 ? 4 : 8;
  spec.sections.push_back({".data", 0xc000'0040, words.bytes()});
  for (u32 at = 0x1000; at < words.size() + 0x8000; at += step)
    spec.relocations.push_back({at, type});
  const auto file = fixtures::build_pe(spec);
  const auto searched = search(file.view());
  if (type == 10) {
    check_searched_in_vain(searched);
    return;
  }
  // The x86 table is in the code that was copied: it and nothing else is found.
  check_plausible(searched);
  CHECK(only_table(searched).rva == only_table(truth).rva);
  CHECK(only_table(searched).entries.size() == services);
}

TEST_CASE("of many tables that are stored into the descriptor some are looked at") {
  const auto kernel = load_stub_image("tables-x86-kernel/ntoskrnl.exe");
  if (!kernel) return;
  auto spec = kernel_with(*kernel, {});
  spec.pe32_plus = false;
  spec.machine = 0x14c;
  const auto base = static_cast<u32>(spec.image_base);
  const u32 start = 0x2000;  // the section behind the code, which is shorter than a page
  fixtures::ByteWriter code;
  for (u32 i = 0; i < 100'000; ++i) {
    const auto at = start + static_cast<u32>(code.size());
    spec.relocations.push_back({at + 2, 3});
    spec.relocations.push_back({at + 6, 3});
    // mov dword ptr [the export's address], a table's address
    code.write_u8(0xc7).write_u8(0x05).write_u32(base + 0x1000).write_u32(base + 0x1000 + i);
  }
  spec.sections.push_back({"INIT", 0x6000'0020, code.bytes()});
  const auto file = fixtures::build_pe(spec);
  REQUIRE(file.sections[1].address == start);
  const auto searched = search(file.view());
  check_plausible(searched);
  CHECK(searched.found.tables.size() == 16);
  CHECK(searched.found.findings.count("service-table-search") == 1);
}

struct Tab {
  StubImage file;
  LocatedServiceTable table;
  u64 offset;
};

std::optional<Tab> load_tab() {
  auto file = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!file) return std::nullopt;
  const auto searched = search(file->bytes);
  const auto& table = only_table(searched);
  core::Findings findings;
  const auto tab = find_services_tab(*searched.image, table, {}, findings);
  REQUIRE(tab);
  return Tab{std::move(*file), table, *tab->file_offset};
}

std::optional<syscall_map::ServicesTab> find_tab(const Tab& tab,
                                                 const std::vector<std::byte>& bytes,
                                                 core::Findings& findings) {
  const auto image = pe::Image::open(bytes, pe::Layout::file, findings);
  REQUIRE(image);
  const std::vector<std::string> names{"NtClose", "OpenProcess", "ZwCreateFile"};
  return find_services_tab(*image, tab.table, names, findings);
}

TEST_CASE("names of KiServicesTab are known with any prefix or none") {
  const auto tab = load_tab();
  if (!tab) return;
  core::Findings findings;
  const auto found = find_tab(*tab, tab->file.bytes, findings);
  REQUIRE(found);
  std::vector<std::string> names;
  for (const auto& entry : found->entries)
    if (!entry.name.empty()) names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"NtClose", "NtCreateFile", "NtOpenProcess"});
  CHECK(findings.count("services-tab-unnamed") == 1);
}

TEST_CASE("a hash that several known names have names nothing, in whatever order and often") {
  const auto tab = load_tab();
  if (!tab) return;
  const auto hash = syscall_map::hash_name("DZcUpBMz");
  REQUIRE(hash == syscall_map::hash_name("LDsnzLRY"));
  auto bytes = tab->file.bytes;
  patch(bytes, tab->offset, fixtures::ByteWriter{}.write_u32(hash).bytes());
  const std::vector<std::string> lists[] = {
      {"NtDZcUpBMz", "ZwLDsnzLRY", "ZwDZcUpBMz"},
      {"NtDZcUpBMz", "NtLDsnzLRY", "ZwLDsnzLRY", "NtDZcUpBMz", "LDsnzLRY"},
      {"NtDZcUpBMz", "ZwDZcUpBMz", "DZcUpBMz"},
  };
  for (const auto& names : lists) {
    core::Findings findings;
    const auto image = pe::Image::open(bytes, pe::Layout::file, findings);
    REQUIRE(image);
    const auto found = find_services_tab(*image, tab->table, names, findings);
    REQUIRE(found);
    CHECK(found->entries[0].hash == hash);
    CHECK(found->entries[0].name == (&names == &lists[2] ? "NtDZcUpBMz" : ""));
  }
}

TEST_CASE("what does not lead to exactly the table's functions is not a KiServicesTab") {
  struct Row {
    const char* why;
    u64 record, at;
    std::vector<std::byte> bytes;
  };
  const auto tab = load_tab();
  if (!tab) return;
  const auto elsewhere = fixtures::ByteWriter{}.write_u64(tab->table.address).bytes();
  const Row rows[] = {
      {"a record leads to data", 3, 8, elsewhere},
      {"the last record leads out of the image", 42, 8,
       fixtures::to_bytes({0xff, 0xff, 0xff, 0xff})},
      {"18 arguments", 7, 4, fixtures::to_bytes({18})},
      {"four billion arguments", 7, 4, fixtures::to_bytes({0xff, 0xff, 0xff, 0xff})},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    auto bytes = tab->file.bytes;
    patch(bytes, tab->offset + row.record * 16 + row.at, row.bytes);
    core::Findings findings;
    CHECK_FALSE(find_tab(*tab, bytes, findings));
    CHECK(findings.count("no-services-tab") == 1);  // its version says that there is one
  }
}

TEST_CASE("argument counts that differ from the argument table are a finding") {
  const auto tab = load_tab();
  if (!tab) return;
  auto bytes = tab->file.bytes;
  patch_u32(bytes, tab->offset + 4, 17);
  core::Findings findings;
  const auto found = find_tab(*tab, bytes, findings);
  REQUIRE(found);
  CHECK(found->confidence == Confidence::low);
  CHECK(findings.count("services-tab-arguments") == 1);
}

TEST_CASE("a table that nothing names can only be named after the same version") {
  const auto file = load_stub_image("tables-x64-win32k-va64/win32k.sys");
  if (!file) return;
  const auto searched = search(file->bytes);
  const auto& table = only_table(searched);
  syscall_map::Service service;
  service.name = "NtGdiBitBlt";
  service.number = 0x1007;
  service.table = syscall_map::ServiceTable::win32k;
  const std::vector<syscall_map::Service> user{service};
  using syscall_map::UserVersion;
  const auto version = GENERATE(UserVersion::unknown, UserVersion::same, UserVersion::other);
  const bool same_version = version == UserVersion::same;
  CAPTURE(same_version);
  auto names = syscall_map::name_entries(*searched.image, table, {}, nullptr);
  core::Findings findings;
  syscall_map::name_after({&user, version}, table, names, findings);
  CHECK(names.shared == 0);
  CHECK_FALSE(names.trusted);
  CHECK(names.entries[7].name == (same_version ? "NtGdiBitBlt" : ""));
  CHECK(findings.count("service-names-unchecked") == (same_version ? 1 : 0));
  CHECK(findings.count("service-names-other-build") == (same_version ? 0 : 1));
}

TEST_CASE("the filter's entries are named as the other table's where all arguments agree") {
  const bool agree = GENERATE(true, false);
  const auto table_of = [](std::vector<u8> arguments) {
    syscall_map::LocatedServiceTable table;
    for (const auto bytes : arguments) table.entries.push_back({.argument_bytes = bytes});
    return table;
  };
  const auto plain = table_of({4, 8, 12}), filter = table_of({4, 8, u8(agree ? 12 : 16)});
  using syscall_map::NameSource;
  const syscall_map::TableNames known{
      .entries = {{"NtGdiOne", NameSource::import}, {}, {"NtGdiThree", NameSource::exported}}};
  syscall_map::TableNames names{.entries = {{}, {}, {"NtUserOwn", NameSource::stub}}};
  syscall_map::name_filter(plain, known, filter, names);
  CHECK(names.entries[0].name == (agree ? "NtGdiOne" : ""));
  CHECK(names.entries[1].name.empty());
  CHECK(names.entries[2].name == "NtUserOwn");
}

}  // namespace
}  // namespace coldtrace
