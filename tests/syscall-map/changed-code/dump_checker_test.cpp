#include "coldtrace/syscall-map/dump_check.hpp"
#include "tests/pe/pe_test.hpp"
#include "tests/syscall-map/code/placed_code.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using fixtures::to_bytes;
using test::Opened;

// An ntdll with two stubs, NtAlpha at 0x1000 and NtBeta at 0x1010: mov r10, rcx; mov eax, NUMBER;
// syscall; ret. Plain is a function at 0x1020 that is none. The second page of code has no name.
fixtures::PeSpec spec() {
  const auto stub = [](unsigned number) {
    return to_bytes(
        {0x4c, 0x8b, 0xd1, 0xb8, number, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc});
  };
  auto made = spec_of_code(
      0x1800, std::byte{0x90},
      {"ntdll.dll", 1, {{"NtAlpha", 1, 0x1000}, {"NtBeta", 2, 0x1010}, {"Plain", 3, 0x1020}}},
      {{0x1000, stub(0)},
       {0x1010, stub(1)},
       {0x1020, to_bytes({0x48, 0x89, 0xc8, 0x48, 0x01, 0xd0, 0xc3})}});
  made.sections.push_back({.name = ".data", .characteristics = 0xc000'0040});
  made.sections[1].content.assign(0x40, std::byte{7});
  return made;
}

// The module in memory with `bytes` at `rva`; `size` is how much of it the dump has.
DumpCheck check(u32 rva, const std::vector<unsigned>& bytes, core::Findings& findings,
                std::optional<std::size_t> size = {}, std::optional<std::size_t> zeros = {}) {
  const auto built = fixtures::build_pe(spec());
  Opened image{built};
  REQUIRE(image);
  const KernelView view{*image};
  auto memory = fixtures::as_loaded(built);
  for (std::size_t i = 0; i < bytes.size(); ++i) memory[rva + i] = static_cast<std::byte>(bytes[i]);
  if (zeros) std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(*zeros), 0x1000, std::byte{});
  if (size) memory.resize(*size);
  const core::ByteView bytes_of_dump{memory};
  const auto dump =
      pe::ModuleDump::open(view, bytes_of_dump, {pe::Layout::memory, spec_base}, findings);
  REQUIRE(dump);
  core::Findings unused;
  const pe::CodeSymbols symbols{&view, nullptr, unused};
  return check_dump(view, pe::read_identity(*image, unused), *dump, symbols, {}, {}, findings);
}

PointState state_of(const DumpCheck& check, std::string_view name) {
  for (std::size_t i = 0; i < check.points.points.size(); ++i)
    if (check.points.points[i].name == name) return check.states[i];
  FAIL("no such hook point: " << name);
  return {};
}

TEST_CASE("a module that is as its file says is not hooked") {
  core::Findings findings;
  const auto found = check(0x1000, {}, findings);
  CHECK_FALSE(found.hooked());
  CHECK(found.changes.empty());
  REQUIRE(found.states.size() == 2);
  CHECK(state_of(found, "NtAlpha") == PointState::clean);
  CHECK(state_of(found, "NtBeta") == PointState::clean);
}

TEST_CASE("changed code is told with what it does, where it leads and what it is in") {
  struct Row {
    const char* why;
    u32 rva;
    std::vector<unsigned> bytes;
    ChangeKind kind;
    std::optional<u64> target;
    const char* function;
    bool alpha;  // whether it is NtAlpha that is changed
  };
  const auto row = GENERATE(values<Row>({
      // e9 rel32: from behind the instruction.
      {"a jump out of the module",
       0x1000,
       {0xe9, 0xfb, 0xff, 0xff, 0x0f},
       ChangeKind::jump,
       spec_base + 0x1000'1000,
       "NtAlpha",
       true},
      {"mov rax, target; jmp rax",
       0x1000,
       {0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xff, 0xe0},
       ChangeKind::jump,
       0x1122'3344'5566'7788,
       "NtAlpha",
       true},
      {"INT 3", 0x1000, {0xcc}, ChangeKind::breakpoint, {}, "NtAlpha", true},
      {"ret", 0x1000, {0xc3}, ChangeKind::returns, {}, "NtAlpha", true},
      {"another function", 0x1020, {0xc3}, ChangeKind::returns, {}, "Plain", false},
      {"another number of a service", 0x1004, {0x05}, ChangeKind::code, {}, "NtAlpha", true},
  }));
  CAPTURE(row.why);
  core::Findings findings;
  const auto found = check(row.rva, row.bytes, findings);
  CHECK(found.hooked());
  REQUIRE(found.changes.size() == 1);
  const auto& change = found.changes[0];
  CHECK(change.meaning.kind == row.kind);
  CHECK(change.meaning.target == row.target);
  REQUIRE(change.function);
  CHECK(change.function->name == row.function);
  CHECK(change.function->source == ChangedFunction::Source::exports);
  CHECK(change.hook_point.has_value() == row.alpha);
  CHECK(state_of(found, "NtAlpha") == (row.alpha ? PointState::changed : PointState::clean));
  CHECK(state_of(found, "NtBeta") == PointState::clean);
  REQUIRE_FALSE(change.after.empty());
  CHECK(change.before != change.after);
}

TEST_CASE("what the module writes into its own data is not a change") {
  core::Findings findings;
  const auto found = check(0x3000, {1, 2, 3, 4}, findings);
  CHECK_FALSE(found.hooked());
  CHECK(found.comparison.written_bytes > 0);
}

TEST_CASE("code that is not in the dump is absent, and no change") {
  SECTION("the dump ends before it") {
    core::Findings findings;
    const auto found = check(0x1000, {}, findings, 0x1010);
    CHECK_FALSE(found.hooked());
    CHECK(state_of(found, "NtAlpha") == PointState::clean);
    CHECK(state_of(found, "NtBeta") == PointState::absent);
    CHECK(findings.count("dump-truncated") == 1);
  }
  SECTION("its page is zeros") {
    core::Findings findings;
    const auto found = check(0x1000, {}, findings, {}, 0x1000);
    CHECK_FALSE(found.hooked());
    CHECK(state_of(found, "NtBeta") == PointState::absent);
    CHECK(findings.count("dump-absent") == 1);
  }
}

TEST_CASE("a change that reaches into two functions is one of each") {
  core::Findings findings;
  // The last byte between NtBeta and Plain, and the first of Plain.
  const auto found = check(0x101f, {0x90, 0xc3}, findings);
  REQUIRE(found.changes.size() == 2);
  CHECK(found.changes[0].bytes.rva == pe::Rva{0x101f});
  CHECK(found.changes[1].bytes.rva == pe::Rva{0x1020});
  CHECK(found.changes[1].function->name == "Plain");
}

}  // namespace
}  // namespace coldtrace
