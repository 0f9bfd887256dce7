#include <fmt/format.h>

#include "fixtures/builders/byte_writer.hpp"
#include "tests/syscall-map/service-tables/service_tables_test.hpp"

namespace coldtrace {
namespace {

using fixtures::ByteWriter;
using fixtures::PeRelocation;
using fixtures::PeSpec;
using syscall_map::Confidence;
using syscall_map::TableForm;

constexpr u32 code = 0x1000, data = 0x3000, highlow = 3, dir64 = 10;

// Functions every 16 bytes from `code` on, and what a test writes at `data`; nothing has a number.
PeSpec image_with(TableForm form, const ByteWriter& content) {
  PeSpec spec;
  spec.image_base = 0x1000'0000;
  if (form == TableForm::va32) {
    spec.pe32_plus = false;
    spec.machine = 0x14c;
  }
  spec.sections.front().content.assign(data - code, std::byte{0xc3});
  spec.sections.push_back(
      {.name = ".data", .characteristics = 0xc000'0040, .content = content.bytes()});
  spec.exports.emplace();
  return spec;
}

PeSpec kernel(TableForm form, const ByteWriter& content) {
  auto spec = image_with(form, content);
  spec.exports->entries.push_back({"NtBuildNumber", 1, data});
  return spec;
}

u32 function(u32 index) {
  return code + 1 + index % 4 * 16;  // no word of the table could be a limit and arguments
}

void write_entry(ByteWriter& out, TableForm form, u32 target) {
  const u64 base = form == TableForm::rva32 ? 0 : 0x1000'0000;
  if (form == TableForm::va64)
    out.write_u64(base + target);
  else
    out.write_u32(base + target);
}

void write_entries(ByteWriter& out, TableForm form, u32 count) {
  for (u32 i = 0; i < count; ++i) write_entry(out, form, function(i));
}

u8 argument_bytes(u32 index) {
  return static_cast<u8>(index % 5 * 4);
}

void write_arguments(ByteWriter& out, u32 count) {
  for (u32 i = 0; i < count; ++i) out.write_u8(argument_bytes(i));
}

std::vector<PeRelocation> relocations_of(TableForm form, u32 start, u32 count) {
  std::vector<PeRelocation> relocations;
  if (form == TableForm::rva32) return relocations;
  const auto size = static_cast<u32>(entry_size(form));
  for (u32 i = 0; i < count; ++i)
    relocations.push_back({start + i * size, form == TableForm::va64 ? u16{dir64} : u16{highlow}});
  return relocations;
}

Searched search(const PeSpec& spec) {
  // What is found keeps views of the file.
  static std::vector<std::byte> bytes;
  bytes = fixtures::build_pe(spec).bytes;
  return coldtrace::search(bytes);
}

bool has_sentence(const syscall_map::LocatedServiceTable& table, const std::string& sentence) {
  return std::find(table.evidence.begin(), table.evidence.end(), sentence) != table.evidence.end();
}

struct SourceRow {
  const char* image;
  TableForm form;
  bool verified, argument_table;
  Confidence confidence;
};

TEST_CASE("the table of each assembled kernel is the list of its source") {
  // Argument bytes of services_nt.inc, by number. x64 counts what is behind four arguments.
  const u8 arguments[services] = {24, 32, 12, 24, 4,  4,  24, 8,  4, 4,  12, 8,  20, 44, 28,
                                  32, 28, 32, 8,  4,  40, 28, 24, 0, 40, 4,  40, 24, 12, 16,
                                  20, 20, 16, 4,  24, 36, 8,  8,  0, 8,  12, 36, 0};
  // Kernels of XP and 7 were read with a table of addresses of 32 bits; no x64 one was.
  const SourceRow rows[] = {
      {"tables-x86-kernel", TableForm::va32, true, true, Confidence::high},
      {"tables-x86-kernel-hidden", TableForm::va32, true, true, Confidence::high},
      {"tables-x64-kernel-2003", TableForm::va64, false, false, Confidence::high},
      {"tables-x64-kernel-va64", TableForm::va64, false, true, Confidence::high},
      {"tables-x64-kernel-far", TableForm::va64, false, true, Confidence::high},
      {"tables-x64-kernel-rva32", TableForm::rva32, false, true, Confidence::high},
      {"tables-x64-unnumbered-va64", TableForm::va64, false, true, Confidence::medium},
      {"tables-x64-unnumbered-rva32", TableForm::rva32, false, true, Confidence::medium},
  };
  for (const auto& row : rows) {
    const auto file = load_stub_image(row.image + std::string{"/ntoskrnl.exe"});
    if (!file) return;
    CAPTURE(row.image);
    const auto searched = coldtrace::search(file->bytes);
    const auto& table = only_table(searched);
    CHECK(table.form == row.form);
    CHECK(table.verified == row.verified);
    CHECK(table.arguments.has_value() == row.argument_table);
    CHECK(table.confidence == row.confidence);
    CHECK(searched.found.findings.count("service-table-unverified") == (row.verified ? 0 : 1));
    CHECK(searched.found.findings.all().size() == (row.verified ? 0 : 1));
    REQUIRE(table.entries.size() == services);
    for (u32 i = 0; i < services; ++i) {
      CAPTURE(i);
      const bool x86 = row.form == TableForm::va32;
      CHECK(table.entries[i].argument_bytes ==
            (x86 ? arguments[i] : std::max(arguments[i] - 16, 0)));
      CHECK(value(table.entries[i].target) % 16 == 0);
    }
    // Two of the services share a function, which the evidence says.
    CHECK_THAT(fmt::format("{}", fmt::join(table.evidence, "\n")),
               Catch::Contains("2 entries share a function with others, 2 of them"));
    const bool stubs = row.confidence == Confidence::high;
    CHECK(
        has_sentence(table, "7 of 7 exported services are where the entry of their number leads") ==
        stubs);
    CHECK(has_sentence(table, "the row of relocated addresses of code ends where the limit says") ==
          (row.form != TableForm::rva32));
    CHECK(has_sentence(table, "43 relocated addresses in a row") == (row.form != TableForm::rva32));
  }
}

struct LimitRow {
  const char* why;
  u32 limit, padding;
  bool found;
  bool relocated = true;
  bool all_zero = false;
  u32 first = code + 1;  // where the first entry leads
};

TEST_CASE("a row of addresses of code is a table where its limit and arguments say so") {
  const LimitRow rows[] = {
      {"the limit follows at once", 24, 0, true},
      {"a word is between", 24, 4, true},
      {"two words are", 25, 8, true},
      {"three words are", 24, 12, true},
      {"no linker leaves four", 24, 16, false},
      {"fewer than any table has", 23, 0, false},
      {"numbers have twelve bits", 0x1000, 0, true},
      {"more than they can count", 0x1001, 0, false},
      {"no service has an argument", 24, 0, false, true, true},
      {"the first entry leads to data", 24, 0, false, true, false, data},
      {"addresses that no loader adjusts", 24, 0, false, false},
  };
  const auto form = GENERATE(TableForm::va64, TableForm::rva32);
  const auto size = static_cast<u32>(entry_size(form));
  for (const auto& row : rows) {
    CAPTURE(row.why, form);
    ByteWriter out;
    write_entry(out, form, row.first);
    for (u32 i = 1; i < row.limit; ++i) write_entry(out, form, function(i));
    out.write_zeros(row.padding).write_u32(row.limit);
    if (row.all_zero)
      out.write_zeros(row.limit);
    else
      write_arguments(out, row.limit);
    auto spec = kernel(form, out);
    if (row.relocated) spec.relocations = relocations_of(form, data, row.limit);
    const auto searched = search(spec);
    // RVAs are never adjusted.
    if (!row.found && (row.relocated || form == TableForm::va64)) {
      CHECK(searched.found.tables.empty());
      continue;
    }
    const auto& table = only_table(searched);
    const auto limit = data + row.limit * size + row.padding;
    CHECK(value(table.rva) == data);
    CHECK(table.form == form);
    CHECK(table.limit == pe::Rva{limit});
    CHECK(table.arguments == pe::Rva{limit + 4});
    CHECK(table.confidence == Confidence::medium);
    REQUIRE(table.entries.size() == row.limit);
    for (u32 i = 0; i < row.limit; ++i)
      if (value(table.entries[i].target) != function(i) ||
          table.entries[i].argument_bytes != argument_bytes(i))
        FAIL("entry " << i);
  }
}

struct ReferenceRow {
  const char* why;
  bool table, limit, arguments;
};

TEST_CASE("an x86 table without numbers has references, and so have its limit and its arguments") {
  const ReferenceRow rows[] = {
      {"all have", true, true, true},
      {"nothing refers to the table", false, true, true},
      {"nothing refers to the limit", true, false, true},
      {"nothing refers to the arguments", true, true, false},
  };
  constexpr u32 count = 30, limit = data + 0x100;
  for (const auto& row : rows) {
    CAPTURE(row.why);
    ByteWriter out;
    write_entries(out, TableForm::va32, count);
    out.pad_to(limit - data).write_u32(count);
    write_arguments(out, count);
    out.align(0x100);
    auto spec = kernel(TableForm::va32, out);
    spec.relocations = relocations_of(TableForm::va32, data, count);
    const auto refer = [&](bool wanted, u32 target) {
      if (!wanted) return;
      auto& content = spec.sections.back().content;
      spec.relocations.push_back({data + static_cast<u32>(content.size()), highlow});
      const auto word = ByteWriter{}.write_u32(spec.image_base + target).write_u32(0).bytes();
      content.insert(content.end(), word.begin(), word.end());
    };
    refer(row.table, data);
    refer(row.limit, limit);
    refer(row.arguments, limit + 4);
    const auto searched = search(spec);
    if (!(row.table && row.limit && row.arguments)) {
      CHECK(searched.found.tables.empty());
      continue;
    }
    const auto& table = only_table(searched);
    CHECK(value(table.rva) == data);
    CHECK(table.limit == pe::Rva{limit});
    CHECK(table.entries.size() == count);
  }
}

struct StoreRow {
  const char* why;
  u8 load = 0xa1, store = 0xa3;  // mov eax, [limit]; mov [descriptor + 8], eax
  u32 between = 3;               // bytes of other code
  bool found = true;
  u32 limit = data + 0x100;
};

TEST_CASE(
    "the code that fills KeServiceDescriptorTable says where an x86 table and its limit are") {
  const StoreRow rows[] = {
      {"as XP does it"},
      {"27 bytes between", 0xa1, 0xa3, 27},
      {"28 bytes between", 0xa1, 0xa3, 28, false},
      {"something else is loaded", 0xa2, 0xa3, 3, false},
      {"something else is stored", 0xa1, 0xa2, 3, false},
      {"a limit that is not in front of the arguments", 0xa1, 0xa3, 3, true, data + 0x180},
  };
  constexpr u32 count = 24, arguments = data + 0x104, descriptor = data + 0x200, init = 0x2000;
  for (const auto& row : rows) {
    CAPTURE(row.why);
    ByteWriter out;
    write_entries(out, TableForm::va32, count);
    out.pad_to(0x100).write_u32(count);
    write_arguments(out, count);
    out.pad_to(0x180).write_u32(count).pad_to(0x210);
    auto spec = kernel(TableForm::va32, out);
    spec.exports->entries.push_back({"KeServiceDescriptorTable", 2, descriptor});
    const auto base = spec.image_base;
    ByteWriter text;
    std::vector<PeRelocation> relocations;
    const auto address = [&](u32 rva) {
      relocations.push_back({init + static_cast<u32>(text.size()), highlow});
      text.write_u32(base + rva);
    };
    const auto store = [&](u32 at, u32 stored) {
      text.write_u8(0xc7).write_u8(0x05);
      address(at);
      address(stored);
    };
    store(descriptor, data);
    text.write_u8(row.load);
    address(row.limit);
    for (u32 i = 0; i < row.between; ++i) text.write_u8(0x90);
    const auto limit_store = init + static_cast<u32>(text.size());
    text.write_u8(row.store);
    address(descriptor + 8);
    const auto arguments_store = init + static_cast<u32>(text.size());
    store(descriptor + 12, arguments);
    spec.sections.front().content.resize(init - code);
    text.pad_to(data - init);
    spec.sections.insert(spec.sections.begin() + 1, {.name = "INIT", .content = text.bytes()});
    const auto entries = relocations_of(TableForm::va32, data, count);
    relocations.insert(relocations.end(), entries.begin(), entries.end());
    spec.relocations = relocations;

    const auto searched = search(spec);
    const auto& table = only_table(searched);
    CHECK(value(table.rva) == data);
    CHECK(table.descriptor == pe::Rva{descriptor});
    CHECK(table.entries.size() == count);
    CHECK(table.arguments == pe::Rva{arguments});
    CHECK(table.limit == pe::Rva{row.limit});
    CHECK(has_sentence(table, "C7 05 at 0x2000 stores it into KeServiceDescriptorTable at 0x3200"));
    CHECK(has_sentence(table, fmt::format("C7 05 at {:#x} stores KiArgumentTable at {:#x}",
                                          arguments_store, arguments)));
    const bool in_front = row.limit == arguments - 4;
    const auto sentence = fmt::format("A3 at {:#x} stores the limit", limit_store);
    CHECK(has_sentence(table, sentence + ", which precedes the arguments") ==
          (row.found && in_front));
    CHECK(has_sentence(table, sentence) == (row.found && !in_front));
    CHECK(table.confidence == (row.found && in_front ? Confidence::high : Confidence::medium));
  }
}

// The code of the assembled kernels is shorter than a page.
constexpr u32 behind_code = 0x2000;

std::vector<u32> targets_of(const StubImage& file) {
  const auto searched = coldtrace::search(file.bytes);
  std::vector<u32> targets;
  for (const auto& entry : only_table(searched).entries) targets.push_back(value(entry.target));
  return targets;
}

struct BehindRow {
  const char* why;
  u32 padding;
  bool padding_is_code;
  bool behind;  // the limit behind the table is taken, though there is another
};

TEST_CASE("the limit behind a table is its own, whatever else could be one") {
  const BehindRow rows[] = {
      {"at once", 0, false, true},
      {"a word further", 4, false, true},
      {"two words further", 8, false, true},
      {"three words further", 12, false, true},
      {"behind one more address of code", 4, true, false},
  };
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  const auto targets = targets_of(*kernel);
  for (const auto& row : rows) {
    CAPTURE(row.why);
    ByteWriter out;
    for (const auto target : targets) out.write_u32(target);
    if (row.padding_is_code) out.write_u32(targets[0]);
    out.pad_to(targets.size() * 4 + row.padding);
    const auto limit = static_cast<u32>(out.size());
    for (int copy = 0; copy < 2; ++copy) {
      out.write_u32(services);
      write_arguments(out, services);
      out.align(64);
    }
    auto spec = kernel_with(*kernel, {{".rdata", 0x4000'0040, out.bytes()}});
    const auto searched = search(spec);
    const auto& table = only_table(searched);
    CHECK(value(table.rva) == behind_code);
    CHECK(table.entries.size() == services);
    CHECK(table.limit == (row.behind ? std::optional{pe::Rva{behind_code + limit}} : std::nullopt));
    CHECK(searched.found.findings.count("service-table-limit") == (row.behind ? 0 : 1));
  }
}

struct ElsewhereRow {
  const char* why;
  unsigned limits;
  std::vector<u32> referenced;  // which of them
  std::optional<u32> taken = {};
};

TEST_CASE("of several limits of an x86 table the one with references is its own") {
  const ElsewhereRow rows[] = {
      {"there is no other", 1, {}, 0},
      {"nothing refers to any of the two", 2, {}},
      {"something refers to the second", 2, {1}, 1},
      {"something refers to both", 2, {0, 1}},
  };
  const auto kernel = load_stub_image("tables-x86-kernel-hidden/ntoskrnl.exe");
  if (!kernel) return;
  const auto whole = coldtrace::search(kernel->bytes);
  const auto table_rva = only_table(whole).rva;  // in the code, which is copied
  for (const auto& row : rows) {
    CAPTURE(row.why);
    ByteWriter out;
    for (u32 i = 0; i < row.limits; ++i) {
      out.pad_to(i * 0x100).write_u32(services);
      write_arguments(out, services);
    }
    out.pad_to(0x200);
    auto spec = kernel_with(*kernel, {});
    spec.pe32_plus = false;
    spec.machine = 0x14c;
    spec.relocations = relocations_of(TableForm::va32, value(table_rva), services);
    for (const auto index : row.referenced)
      for (const u32 target : {behind_code + index * 0x100, behind_code + 4 + index * 0x100}) {
        spec.relocations.push_back({behind_code + static_cast<u32>(out.size()), highlow});
        out.write_u32(spec.image_base + target).write_u32(0);
      }
    spec.sections.push_back(
        {.name = ".data", .characteristics = 0xc000'0040, .content = out.bytes()});
    const auto searched = search(spec);
    const auto& table = only_table(searched);
    CHECK(table.rva == table_rva);
    CHECK(table.limit ==
          (row.taken ? std::optional{pe::Rva{behind_code + *row.taken * 0x100}} : std::nullopt));
    CHECK(searched.found.findings.count("service-table-limit") ==
          (row.referenced.size() == 2 ? 1 : 0));
  }
}

TEST_CASE("functions may be at odd places") {
  const auto kernel = load_stub_image("tables-x64-kernel-va64/ntoskrnl.exe");
  if (!kernel) return;
  auto spec = kernel_with(*kernel, {});
  ByteWriter out;
  const auto targets = targets_of(*kernel);
  for (const auto target : targets) out.write_u64(spec.image_base + target + 1);
  for (auto& entry : spec.exports->entries)
    if (entry.name.starts_with("Nt") && entry.address != 0x1000) ++entry.address;
  spec.sections.push_back(
      {.name = ".rdata", .characteristics = 0x4000'0040, .content = out.bytes()});
  spec.relocations = relocations_of(TableForm::va64, behind_code, services);
  const auto searched = search(spec);
  const auto& table = only_table(searched);
  CHECK(value(table.rva) == behind_code);
  REQUIRE(table.entries.size() == services);
  for (u32 i = 0; i < services; ++i) CHECK(value(table.entries[i].target) == targets[i] + 1);
}

TEST_CASE("a table that the numbers of its kernel contradict is none, whatever limit it has") {
  const bool all = GENERATE(true, false);  // or one of the seven exported services, NtClose
  CAPTURE(all);
  const auto kernel = load_stub_image("tables-x64-kernel-rva32/ntoskrnl.exe");
  if (!kernel) return;
  auto targets = targets_of(*kernel);
  if (all)
    std::rotate(targets.begin(), targets.begin() + 1, targets.end());
  else
    targets[9] = targets[8];
  ByteWriter out;
  for (const auto target : targets) out.write_u32(target);
  out.write_u32(services);
  write_arguments(out, services);
  const auto searched = search(kernel_with(*kernel, {{".rdata", 0x4000'0040, out.bytes()}}));
  CHECK(searched.found.tables.empty());
}

std::string reason_for_none(const Searched& searched) {
  for (const auto& finding : searched.found.findings.all())
    if (finding.code == core::Name{"no-service-table"}) return finding.text;
  return {};
}

TEST_CASE("stubs that programs call are none of a kernel") {
  const auto file = load_stub_image("windows10-x64/ntdll.dll");
  if (!file) return;
  auto spec = kernel_with(*file, {});
  spec.exports->entries.push_back({"NtBuildNumber", 900, 0x1000});
  CHECK_THAT(reason_for_none(search(spec)),
             Catch::Contains("0 stubs with numbers, 0 exported services"));
}

TEST_CASE("an ARM64 kernel is not searched for a table as x64 has it") {
  ByteWriter out;
  write_entries(out, TableForm::rva32, 24);
  out.write_u32(24);
  write_arguments(out, 24);
  auto spec = kernel(TableForm::rva32, out);
  CHECK(search(spec).found.tables.size() == 1);
  spec.machine = 0xaa64;
  const auto searched = search(spec);
  CHECK(searched.found.tables.empty());
  CHECK_THAT(reason_for_none(searched), Catch::Contains("is unknown"));
}

TEST_CASE("two tables of one kernel are both told, and how many there are") {
  const u32 copies = GENERATE(2U, 3U);
  ByteWriter out;
  for (u32 copy = 0; copy < copies; ++copy) {
    out.pad_to(copy * 0x100);
    write_entries(out, TableForm::rva32, 24);
    out.write_u32(24);
    write_arguments(out, 24);
  }
  const auto searched = search(kernel(TableForm::rva32, out));
  REQUIRE(searched.found.tables.size() == copies);
  std::string text;
  for (const auto& finding : searched.found.findings.all())
    if (finding.code == core::Name{"service-table-ambiguous"}) text = finding.text;
  CHECK(text == fmt::format("{} places could be KiServiceTable: RVA 0x3000, 0x3100{}", copies,
                            copies > 2 ? ", ..." : ""));
}

}  // namespace
}  // namespace coldtrace
