#include "coldtrace/syscall-map/servicing/row_comparison.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;
using namespace coldtrace::syscall_map;

namespace {

HookService service(u16 number, std::vector<std::string> names, u32 target = 0x1000,
                    std::optional<u32> hash = {}) {
  HookService made;
  made.number = number;
  made.names = std::move(names);
  made.image = ImageRole::kernel;
  made.target = pe::Rva{target};
  made.argument_bytes = 8;
  made.name_hash = hash;
  return made;
}

HookTable with(std::vector<HookService> services) {
  HookTable table;
  table.services = std::move(services);
  return table;
}

HookTable with_member(std::optional<u64> value, std::optional<u32> size = 8) {
  HookTable table;
  MemberValue member;
  member.name = "Token";
  member.value = value;
  member.size = size;
  table.members.push_back(member);
  return table;
}

RowChange only(const HookTable& before, const HookTable& after, bool symbols = false,
               bool types = true) {
  const auto changes = compare_hook_rows(before, {after, symbols, types});
  REQUIRE(changes.size() == 1);
  return changes.front();
}

}  // namespace

TEST_CASE("a service survives, moves, changes or is gone") {
  const auto before = with({service(5, {"NtOpenFile"})});
  struct Row {
    const char* why;
    std::vector<HookService> after;
    RowState state;
  };
  auto arguments = service(5, {"NtOpenFile"});
  arguments.argument_bytes = 12;
  auto moved_and_changed = service(6, {"NtOpenFile"});
  moved_and_changed.argument_bytes = 12;
  auto unknown = service(5, {"NtOpenFile"});
  unknown.target.reset();
  const auto row = GENERATE_COPY(values<Row>({
      {"the same", {service(5, {"NtOpenFile"})}, RowState::survives},
      {"called Zw there", {service(5, {"ZwOpenFile"})}, RowState::survives},
      {"another name of it is the old one",
       {service(5, {"NtOpenFile2", "NtOpenFile"})},
       RowState::survives},
      {"another number", {service(6, {"NtOpenFile"})}, RowState::moved},
      {"another place", {service(5, {"NtOpenFile"}, 0x2000)}, RowState::moved},
      {"other arguments", {arguments}, RowState::changed},
      {"what is worse counts", {moved_and_changed}, RowState::changed},
      {"its place is not known", {unknown}, RowState::unproved},
  }));
  CAPTURE(row.why);
  const auto change = only(before, with(row.after));
  CHECK(change.kind == HookRowKind::service);
  CHECK(change.name == "NtOpenFile");
  CHECK(change.state == row.state);
  CHECK(change.values.empty() == (row.state == RowState::survives));
}

TEST_CASE("a service is only gone if the new build names all services of its table") {
  const auto before = with({service(5, {"NtOld"})});
  struct Row {
    const char* why;
    std::vector<HookService> after;
    RowState state;
    const char* reason;
  };
  auto of_win32k = service(0x1005, {"NtUserOther"});
  of_win32k.table = ServiceTable::win32k;
  const auto row = GENERATE_COPY(values<Row>({
      {"all are named",
       {service(5, {"NtNew"})},
       RowState::gone,
       "the new build names all its services, and none has this name"},
      {"one is not",
       {service(5, {})},
       RowState::unproved,
       "1 service of the new build has no name, and may be it"},
      {"none of its table is known",
       {of_win32k},
       RowState::unproved,
       "no services of nt are known in the new build"},
  }));
  CAPTURE(row.why);
  const auto after = with(row.after);
  const auto changes = compare_hook_rows(before, {after});
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].state == row.state);
  CHECK(changes[0].reason == row.reason);
  CHECK(changes[1].state == RowState::added);
  REQUIRE_FALSE(changes[1].values.empty());
  CHECK_FALSE(changes[1].values.front().before);
  CHECK(changes[1].values.front().after);
}

TEST_CASE("services without a name are followed by the hash of their name, then by number") {
  const auto before = with({service(5, {}, 0x1000, 0xaaaa)});
  const auto number = [](const RowChange& change) {
    for (const auto& value : change.values)
      if (value.member == "number") return value.after;
    return std::optional<HookRowContent>{};
  };
  SECTION("the hash is that of another number") {
    const auto after = with({service(5, {}, 0x1000, 0xbbbb), service(6, {}, 0x1000, 0xaaaa)});
    const auto changes = compare_hook_rows(before, {after});
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].state == RowState::moved);
    CHECK(number(changes[0]) == HookRowContent{u64{6}});
    CHECK(changes[1].state == RowState::added);
  }
  SECTION("two services have the hash, so that it tells nothing") {
    const auto after = with({service(5, {}, 0x1000, 0xaaaa), service(6, {}, 0x1000, 0xaaaa)});
    const auto changes = compare_hook_rows(before, {after});
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].state != RowState::moved);
    CHECK_FALSE(number(changes[0]));
  }
  SECTION("no service has the number or the hash") {
    const auto after = with({service(7, {"NtNew"}, 0x1000)});
    const auto changes = compare_hook_rows(before, {after});
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].state == RowState::unproved);
    CHECK(changes[0].reason == "nothing names the service, so it cannot be followed");
  }
}

TEST_CASE("the n-th row of a name is compared with the n-th") {
  HookTable before, after;
  for (const u32 rva : {0x1000U, 0x2000U}) {
    ContextSwitch found;
    found.name = "SwapContext";
    found.rva = pe::Rva{rva};
    before.context_switch.candidates.push_back(found);
    after.context_switch.candidates.push_back(found);
  }
  after.context_switch.candidates[1].rva = pe::Rva{0x3000};
  const auto changes = compare_hook_rows(before, {after});
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].state == RowState::survives);
  CHECK(changes[1].state == RowState::moved);
  after.context_switch.candidates.clear();
  after.context_switch.reasons = {"no code exchanges the stack", "two are alike"};
  const auto missing = compare_hook_rows(before, {after});
  CHECK(missing[0].state == RowState::unproved);
  CHECK(missing[0].reason == "no code exchanges the stack; two are alike");
}

TEST_CASE("a member is only gone if the types of the new build's PDB were read") {
  const auto before = with_member(0x248);
  CHECK(only(before, with_member(0x248)).state == RowState::survives);
  CHECK(only(before, with_member(0x250)).state == RowState::moved);
  CHECK(only(before, with_member(0x248, 4)).state == RowState::changed);
  CHECK(only(before, with_member(0x248, {})).state == RowState::unproved);
  const auto absent = with_member({});
  CHECK(only(before, absent, true, true).state == RowState::gone);
  CHECK(only(before, absent, true, false).state == RowState::unproved);
  CHECK(only(before, absent, false, true).state == RowState::unproved);
}

TEST_CASE("a trace point that is refused is gone, one whose place is not known is unproved") {
  const auto point = [](std::optional<TraceRefusal> refusal) {
    HookTable table;
    TracePoint made;
    made.requested = "NtClose";
    made.rva = pe::Rva{0x1000};
    made.bytes = {0x40, 0x53};
    if (refusal) made.refusals.push_back({*refusal, "why"});
    table.trace_points.push_back(made);
    return table;
  };
  const auto before = point({});
  struct Row {
    TraceRefusal refusal;
    bool symbols;
    RowState state;
  };
  const auto row = GENERATE(values<Row>({
      {TraceRefusal::init, false, RowState::gone},
      {TraceRefusal::not_found, true, RowState::gone},
      {TraceRefusal::not_found, false, RowState::unproved},
      {TraceRefusal::ambiguous, true, RowState::unproved},
  }));
  const auto change = only(before, point(row.refusal), row.symbols);
  CHECK(change.state == row.state);
  CHECK(change.reason == std::string{to_string(row.refusal)} + ": why");
  CHECK(only(before, point({})).state == RowState::survives);
  CHECK(only(before, HookTable{}).reason == "it was not planned for the new build");
}

TEST_CASE("tables without rows have no changes") {
  const HookTable none;
  CHECK(compare_hook_rows(none, {none}).empty());
}
