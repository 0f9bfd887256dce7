#include "coldtrace/syscall-map/table-assembly/hook_table_assembly.hpp"

#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

core::Guid guid_of(u8 last) {
  core::Guid guid{};
  guid.bytes[15] = std::byte{last};
  return guid;
}

pe::SymbolFile symbols_of(std::string path, u8 guid, u32 age) {
  pe::SymbolFile file;
  file.path = std::move(path);
  file.identity.guid = guid_of(guid);
  file.identity.age = age;
  return file;
}

HookTable table_of(u8 guid, u32 age) {
  HookTable table;
  HookTableImage kernel{ImageRole::kernel, "ntoskrnl.exe", {}, {}};
  kernel.identity.machine = pe::Machine::amd64;
  kernel.identity.pdb = pe::PdbReference{"ntkrnlmp.pdb", guid_of(guid), std::nullopt, age};
  table.images.push_back(std::move(kernel));
  return table;
}

TEST_CASE("symbol files that no build asks for are told where another is asked for") {
  std::vector<pe::SymbolFile> symbols;
  symbols.push_back(symbols_of("right.pdb", 1, 2));
  symbols.push_back(symbols_of("other-age.pdb", 1, 3));
  symbols.push_back(symbols_of("other-guid.pdb", 2, 2));
  const std::vector builds{table_of(1, 2)};
  core::Findings findings;
  note_unused_symbols(symbols, builds, findings);
  CHECK(findings.count("pdb-mismatch") == 2);
  CHECK(findings.all().front().text.starts_with("other-age.pdb: "));
  core::Findings told_by_builds;
  note_unused_symbols(std::span{symbols}.subspan(1), builds, told_by_builds);
  CHECK(told_by_builds.empty());
}

TEST_CASE("a table has the trace points and members that are asked for, and says what is missing") {
  const auto file = load_stub_image("windows7-x86-kernel/ntoskrnl.exe");
  if (!file) return;
  const auto image = file->open();
  const KernelView view{image};
  core::Findings findings;
  const std::vector<HookTableSource> sources{
      {{ImageRole::kernel, "ntoskrnl.exe", pe::read_identity(image, findings), {}}, &view}};
  const std::vector<std::string> points{"NtIsNowhere"};
  const std::vector<MemberRequest> members{
      {"Nowhere", MemberKind::global, {"NoSuchSymbol"}, false}};
  const auto table = assemble_hook_table(sources, {}, {points, members, {}, {}}, findings);
  CHECK(table.services.size() == build_hook_table(sources).services.size());
  REQUIRE(table.trace_points.size() == 1);
  CHECK_FALSE(table.trace_points.front().eligible());
  REQUIRE(table.members.size() == 1);
  CHECK_FALSE(table.members.front().value);
  CHECK(findings.count("no-match") == 1);
  CHECK(findings.count("member-missing") == 1);
}

}  // namespace
}  // namespace coldtrace
