#include <map>
#include <ostream>

#include <fmt/format.h>

#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/syscall-map/services_tab.hpp"
#include "coldtrace/syscall-map/table_names.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "tests/syscall-map/service-tables/service_tables_test.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::PeSpec;
using syscall_map::Confidence;
using syscall_map::find_services_tab;
using syscall_map::LocatedServiceTable;
using syscall_map::NameSource;
using syscall_map::ServiceTable;

// The file version of a version resource: VS_FIXEDFILEINFO, whose signature is before it. Source:
// Windows SDK, verrsrc.h.
void set_file_version(std::vector<std::byte>& bytes, u32 high, u32 low) {
  const auto signature = ByteWriter{}.write_u32(0xfeef04bd).bytes();
  const auto found = std::search(bytes.begin(), bytes.end(), signature.begin(), signature.end());
  REQUIRE(found != bytes.end());
  const auto at = static_cast<u64>(found - bytes.begin());
  patch_u32(bytes, at + 8, high);
  patch_u32(bytes, at + 12, low);
}

struct VerifiedRow {
  u32 major, minor;
  bool verified;
};

TEST_CASE("x86 tables of XP, 2003 and 7 were seen in real files") {
  const VerifiedRow rows[] = {{5, 0, false}, {5, 1, true},  {5, 2, true},   {6, 0, false},
                              {6, 1, true},  {6, 2, false}, {1, 401, false}};
  const auto kernel = load_stub_image("tables-x86-kernel/ntoskrnl.exe");
  if (!kernel) return;
  for (const auto& row : rows) {
    CAPTURE(row.major, row.minor);
    auto bytes = kernel->bytes;
    set_file_version(bytes, row.major << 16 | row.minor, 0);
    const auto searched = search(bytes);
    CHECK(only_table(searched).verified == row.verified);
  }
}

struct AbsenceRow {
  const char* image;
  u32 major, minor, build;
  bool missed;
};

TEST_CASE("KiServicesTab is missed in x64 kernels since 10.0.18362 alone") {
  const AbsenceRow rows[] = {
      {"tables-x64-kernel-rva32/ntoskrnl.exe", 10, 0, 18362, true},
      {"tables-x64-kernel-rva32/ntoskrnl.exe", 10, 0, 18361, false},
      {"tables-x64-kernel-rva32/ntoskrnl.exe", 6, 3, 20000, false},
      {"tables-x64-kernel-rva32/ntoskrnl.exe", 11, 0, 1, true},
      {"tables-x86-kernel/ntoskrnl.exe", 10, 0, 19041, false},
      {"tables-x64-win32k-va64/win32k.sys", 10, 0, 19041, false},
  };
  for (const auto& row : rows) {
    const auto file = load_stub_image(row.image);
    if (!file) return;
    CAPTURE(row.image, row.major, row.minor, row.build);
    auto bytes = file->bytes;
    set_file_version(bytes, row.major << 16 | row.minor, row.build << 16);
    const auto searched = search(bytes);
    auto table = only_table(searched);
    core::Findings findings;
    if (row.build > 18000 || row.major > 10)
      table.entries.front().target = pe::Rva{0x100};  // no record leads there
    CHECK_FALSE(find_services_tab(*searched.image, table, {}, findings));
    CHECK(findings.count("no-services-tab") == (row.missed ? 1 : 0));
    CHECK(findings.all().size() == (row.missed ? 1 : 0));
  }
}

TEST_CASE("a version of no kernel misses no KiServicesTab") {
  PeSpec spec;
  const auto file = fixtures::build_pe(spec);
  core::Findings findings;
  const auto image = pe::Image::open(file.view(), pe::Layout::file, findings);
  REQUIRE(image);
  LocatedServiceTable table;
  table.entries.resize(1);
  CHECK_FALSE(find_services_tab(*image, table, {}, findings));
  CHECK(findings.all().empty());
}

TEST_CASE("what speaks for KiServicesTab is told") {
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  const auto searched = search(kernel->bytes);
  const auto& table = only_table(searched);
  // NtFlushWriteBuffer and one more share a function: 41 records are of one number each.
  const std::vector<std::string> whole{
      "43 records with relocated addresses lead to all 42 functions of KiServiceTable and to no "
      "other",
      "as many records as the table has entries, 43, for each function",
      "2 services share their function with another: it is not known which record belongs to which "
      "number",
      "41 of 41 argument counts agree with KiArgumentTable",
      "the hashes of 0 of 43 records are those of known names"};
  core::Findings findings;
  const auto tab = find_services_tab(*searched.image, table, {}, findings);
  REQUIRE(tab);
  CHECK(tab->evidence == whole);
  CHECK(tab->confidence == Confidence::high);

  SECTION("a table without arguments has none to compare") {
    auto bare = table;
    bare.arguments.reset();
    for (auto& entry : bare.entries) entry.argument_bytes.reset();
    const auto found = find_services_tab(*searched.image, bare, {}, findings);
    REQUIRE(found);
    CHECK(found->evidence.size() == 4);
    CHECK(found->confidence == Confidence::medium);
    CHECK(findings.count("services-tab-arguments") == 0);
  }
  SECTION("one argument that is known is compared") {
    auto one = table;
    for (auto& entry : one.entries)
      if (&entry != &one.entries[1]) entry.argument_bytes.reset();
    const auto found = find_services_tab(*searched.image, one, {}, findings);
    REQUIRE(found);
    CHECK(found->evidence[3] == "1 of 1 argument counts agree with KiArgumentTable");
    CHECK(found->confidence == Confidence::high);
  }
}

struct Named {
  std::string name;
  NameSource source;
  bool operator==(const Named&) const = default;
};

std::vector<Named> named(const syscall_map::TableNames& names) {
  std::vector<Named> out;
  for (const auto& entry : names.entries) out.push_back({entry.name, entry.source});
  return out;
}

std::ostream& operator<<(std::ostream& out, const Named& entry) {
  return out << '\'' << entry.name << "' by " << to_string(entry.source);
}

TEST_CASE("the surest source names an entry") {
  PeSpec spec;
  spec.exports = {.entries = {{"NtAlpha", 1, 0x1000},
                              {"NtBeta", 2, 0x1010},
                              {"NtShared", 3, 0x1020},
                              {"Other", 4, 0x1030},
                              {"NtZulu", 5, 0x1040}}};
  const auto file = fixtures::build_pe(spec);
  core::Findings findings;
  const auto image = pe::Image::open(file.view(), pe::Layout::file, findings);
  REQUIRE(image);
  LocatedServiceTable table;
  for (const u32 target : {0x1000U, 0x1010U, 0x1020U, 0x1020U, 0x1030U, 0x1040U, 0x1050U, 0x1060U})
    table.entries.push_back({.target = pe::Rva{target}});
  table.entries[4].import_name = "NtGdiJump";
  table.entries[5].import_name = "NtUserJump";
  table.entries[6].import_name = "DllMain";
  const auto stub = [](std::string name, u16 number, ServiceTable of) {
    syscall_map::Service service;
    service.name = std::move(name);
    service.number = number;
    service.table = of;
    return service;
  };
  const std::vector<syscall_map::Service> stubs{
      stub("ZwBetaStub", 1, ServiceTable::nt), stub("NtUserStub", 0x1000, ServiceTable::win32k),
      stub("KiNone", 2, ServiceTable::nt), stub("ZwUserJump", 5, ServiceTable::nt),
      stub("ZwBeyond", 8, ServiceTable::nt)};
  syscall_map::ServicesTab tab;
  tab.entries = {{.name = "NtHashed", .numbers = {7}},
                 {.name = "NtMerged", .numbers = {2, 3}},
                 {.name = "", .numbers = {6}},
                 {.name = "NtLate", .numbers = {1}}};
  const auto names = syscall_map::name_entries(*image, table, stubs, &tab);
  const std::vector<Named> expected{{"NtAlpha", NameSource::exported},
                                    {"NtBetaStub", NameSource::stub},
                                    {"", NameSource::none},  // two entries lead to NtShared
                                    {"", NameSource::none},
                                    {"NtGdiJump", NameSource::import},
                                    {"NtUserJump", NameSource::stub},
                                    {"", NameSource::none},
                                    {"NtHashed", NameSource::services_tab}};
  CHECK(named(names) == expected);
}

struct VersionRow {
  std::optional<std::string> user, image;
  pe::Machine machine;
  syscall_map::UserVersion expected;
};

TEST_CASE("a user side is of the same version where machine and all of the version are") {
  using syscall_map::UserVersion;
  const VersionRow rows[] = {
      {"10.0.19041.1", "10.0.19041.1", pe::Machine::amd64, UserVersion::same},
      {"10.0.19041.1", "10.0.19041.2", pe::Machine::amd64, UserVersion::other},
      {"10.0.19041.1", "10.0.19041.1", pe::Machine::i386, UserVersion::other},
      {"10.0.19041.1", std::nullopt, pe::Machine::amd64, UserVersion::unknown},
      {std::nullopt, "10.0.19041.1", pe::Machine::amd64, UserVersion::unknown},
  };
  for (const auto& row : rows) {
    pe::Identity user{}, image{};
    user.machine = row.machine;
    image.machine = pe::Machine::amd64;
    user.file_version = row.user;
    image.file_version = row.image;
    CHECK(syscall_map::compare_versions(user, image) == row.expected);
  }
}

// win32k with a table at 0x3000 of which each entry leads to 16 bytes of code from 0x1000 on.
struct Win32k {
  PeSpec spec;
  u32 entries;

  explicit Win32k(bool x64, u32 count = 24, u32 stored_limit = 24) : entries{count} {
    spec.pe32_plus = x64;
    spec.machine = x64 ? 0x8664 : 0x14c;
    spec.image_base = 0x1000'0000;
    spec.sections.front().content.assign(0x2000, std::byte{0xc3});
    ByteWriter out;
    for (u32 i = 0; i < count; ++i)
      out.write_u32((x64 ? 0 : spec.image_base) + 0x1000 + i % 24 * 16);
    out.write_u32(stored_limit);
    for (u32 i = 0; i < count; ++i) out.write_u8(4);
    spec.sections.push_back(
        {.name = ".data", .characteristics = 0xc000'0040, .content = out.bytes()});
    spec.exports = {.module_name = "win32k.sys", .entries = {{"W32pServiceTable", 1, 0x3000}}};
    if (!x64)
      for (u32 i = 0; i < count; ++i) spec.relocations.push_back({0x3000 + i * 4, 3});
  }

  u32 limit() const { return 0x3000 + entries * 4; }
  Win32k& with_limit() {
    spec.exports->entries.push_back({"W32pServiceLimit", 2, limit()});
    return *this;
  }
  Win32k& with_arguments() {
    spec.exports->entries.push_back({"W32pArgumentTable", 3, limit() + 4});
    return *this;
  }
};

struct ExportsRow {
  const char* why;
  Win32k image;
  std::optional<u32> limit;
  u64 entries;
  Confidence confidence;
  u64 limit_findings = 0;
};

TEST_CASE("W32pServiceTable is as long as the limit that is exported, or before its arguments") {
  const ExportsRow rows[] = {
      {"both exported", Win32k{true}.with_limit().with_arguments(), 0x3060, 24, Confidence::high},
      {"no limit", Win32k{true}.with_arguments(), 0x3060, 24, Confidence::high},
      {"no arguments", Win32k{true}.with_limit(), 0x3060, 24, Confidence::medium},
      {"neither", Win32k{true}, {}, 0, Confidence::low, 1},
      {"no entries", Win32k{true, 24, 0}.with_limit(), 0x3060, 0, Confidence::low, 1},
      {"all numbers", Win32k{true, 0x1000, 0x1000}.with_limit().with_arguments(), 0x7000, 0x1000,
       Confidence::high},
      {"one number more", Win32k{true, 0x1001, 0x1001}.with_limit().with_arguments(), 0x7004,
       0x1000, Confidence::low, 1},
      {"x86", Win32k{false}.with_limit().with_arguments(), 0x3060, 24, Confidence::high},
      {"x86, relocations of one entry more", Win32k{false, 24, 23}.with_limit(), 0x3060, 23,
       Confidence::low, 1},
  };
  for (const auto& row : rows) {
    CAPTURE(row.why);
    const auto file = fixtures::build_pe(row.image.spec);
    const auto searched = search(file.view());
    const auto& table = only_table(searched);
    CHECK(value(table.rva) == 0x3000);
    CHECK(table.limit == (row.limit ? std::optional{pe::Rva{*row.limit}} : std::nullopt));
    CHECK(table.entries.size() == row.entries);
    CHECK(table.confidence == row.confidence);
    CHECK(searched.found.findings.count("service-table-limit") == row.limit_findings);
    // x64 win32k.sys of 7 to 11 were read; no x86 one was.
    CHECK(table.verified == row.image.spec.pe32_plus);
  }
}

TEST_CASE("a table that win32k does not export is one of its machine's form") {
  Win32k win32k{true};
  win32k.spec.exports->entries.clear();
  win32k.spec.imports = {{"ntoskrnl.exe", {{"KeAddSystemServiceTable"}}}};
  const auto x64 = fixtures::build_pe(win32k.spec);
  CHECK(value(only_table(search(x64.view())).rva) == 0x3000);
  // x86 has addresses, and these are RVAs.
  win32k.spec.pe32_plus = false;
  win32k.spec.machine = 0x14c;
  const auto x86 = fixtures::build_pe(win32k.spec);
  CHECK(search(x86.view()).found.tables.empty());
}

TEST_CASE("an entry that jumps through an import has its name") {
  const bool x64 = GENERATE(true, false);
  Win32k win32k{x64};
  win32k.with_limit().with_arguments();
  win32k.spec.imports = {{"win32kbase.sys", {{"NtGdiOne"}, {"NtGdiTwo"}}}};
  win32k.spec.delay_imports = {{"win32kfull.sys", {{"NtUserThree"}}}};
  auto file = fixtures::build_pe(win32k.spec);
  core::Findings findings;
  std::map<std::string_view, u32> slots;
  {
    const auto image = pe::Image::open(file.view(), pe::Layout::file, findings);
    REQUIRE(image);
    for (const auto& modules :
         {pe::read_imports(*image, findings), pe::read_delay_imports(*image, findings)})
      for (const auto& module : modules)
        for (const auto& function : module.functions) slots[function.name] = value(function.slot);
  }
  REQUIRE(slots.size() == 3);
  const auto write = [&](u32 entry, std::initializer_list<unsigned> opcode, u32 target) {
    const auto at = 0x1000 + entry * 16;
    ByteWriter out;
    out.write_bytes(fixtures::to_bytes(opcode));
    const auto behind = at + static_cast<u32>(out.size()) + 4;
    out.write_u32(x64 ? target - behind : static_cast<u32>(win32k.spec.image_base) + target);
    file.patch_bytes(file.offset_of(at), out.view());
  };
  write(0, {0xff, 0x25}, slots["NtGdiOne"]);           // jmp [slot]
  write(1, {0x48, 0xff, 0x25}, slots["NtUserThree"]);  // with a REX prefix
  write(2, {0xff, 0x15}, slots["NtGdiTwo"]);           // call [slot]
  write(3, {0xff, 0x25}, 0x3000);                      // a jump through no import
  write(4, {0xff, 0x25}, x64 ? 0x9000'0000 : 0x3000);  // before the image
  write(5, {0xff, 0x25}, slots["NtGdiTwo"]);
  const auto searched = search(file.view());
  const auto& table = only_table(searched);
  REQUIRE(table.entries.size() == 24);
  const std::pair<std::string, std::string> expected[] = {{"win32kbase.sys", "NtGdiOne"},
                                                          {"win32kfull.sys", "NtUserThree"},
                                                          {},
                                                          {},
                                                          {},
                                                          {"win32kbase.sys", "NtGdiTwo"},
                                                          {}};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(x64, i);
    CHECK(table.entries[i].import_module == expected[i].first);
    CHECK(table.entries[i].import_name == expected[i].second);
  }
  CHECK(std::find(table.evidence.begin(), table.evidence.end(),
                  "3 entries jump through imports that have names") != table.evidence.end());
}

}  // namespace
}  // namespace coldtrace
