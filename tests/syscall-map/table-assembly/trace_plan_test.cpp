#include "coldtrace/syscall-map/table-assembly/trace_plan.hpp"

#include "coldtrace/syscall-map/table-assembly/hook_table_assembly.hpp"
#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"
#include "tests/syscall-map/stubs/stub_image.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

// fixtures/asm/trace_points.asm exports NtOpenThing and KeSetTracepoint, and has no service table.
TEST_CASE("what the search for services finds counts only if a name is asked that needs them") {
  const auto file = load_stub_image("trace-points-x64/ntoskrnl.exe");
  if (!file) return;
  const auto image = file->open();
  const KernelView view{image};
  struct Row {
    const char* why;
    std::vector<std::string> requests;
    u64 services_missing, unmatched;
  };
  const auto row = GENERATE(values<Row>({
      {"an export", {"NtOpenThing"}, 0, 0},
      {"two places of an export, and an address", {"NtOpenThing", "NtOpenThing+4", "0x1004"}, 0, 0},
      {"a name that only services could have", {"NtIsNowhere"}, 1, 1},
      {"one of two", {"NtOpenThing", "NtIsNowhere"}, 1, 1},
  }));
  CAPTURE(row.why);
  core::Findings opening;
  const std::vector<HookTableSource> sources{
      {{ImageRole::kernel, "ntoskrnl.exe", pe::read_identity(image, opening), {}}, &view}};
  const auto plan = make_trace_plan(sources, {}, row.requests);
  CHECK(plan.points.size() == row.requests.size());
  CHECK(plan.findings.count("no-services") == row.services_missing);
  CHECK(plan.findings.count("no-service-table") == row.services_missing);
  CHECK(plan.findings.count("no-match") == row.unmatched);
  CHECK(has_trace_names(view, row.requests, {}) == (row.services_missing == 0));
  CHECK(plan.ntdll_findings.empty());
  CHECK(plan.pdb.empty());
}

TEST_CASE("a plan has the interfaces that set trace points, and what they show of the kernel") {
  const auto file = load_stub_image("trace-points-x64/ntoskrnl.exe");
  if (!file) return;
  const auto image = file->open();
  const KernelView view{image};
  core::Findings opening;
  const std::vector<HookTableSource> sources{
      {{ImageRole::kernel, "ntoskrnl.exe", pe::read_identity(image, opening), {}}, &view}};
  const auto plan = make_trace_plan(sources, {}, {});
  CHECK(plan.points.empty());
  std::vector<std::string> names, exported;
  for (const auto& one : plan.interfaces) {
    names.emplace_back(one.name);
    if (one.exported) exported.emplace_back(one.name);
  }
  CHECK(names == std::vector<std::string>{"KeSetSystemServiceCallback", "KeSetTracepoint",
                                          "EtwRegisterEventCallback", "TraceInitSystem"});
  CHECK(exported == std::vector<std::string>{"KeSetTracepoint"});
  CHECK(plan.facility.state == TraceFacilityState::present);
}

TEST_CASE(
    "a hook table has the points of the plan, and says of the kernel's facility what it says") {
  const auto* const name = GENERATE("trace-points-x64/ntoskrnl.exe", "windows7-x64/ntdll.dll");
  const auto file = load_stub_image(name);
  if (!file) return;
  const auto image = file->open();
  const KernelView view{image};
  core::Findings opening, findings;
  const std::vector<HookTableSource> sources{
      {{ImageRole::kernel, name, pe::read_identity(image, opening), {}}, &view}};
  const std::vector<std::string> requests{"NtOpenThing", "NtClose", "NtIsNowhere", "0x1004"};
  const auto plan = make_trace_plan(sources, {}, requests);
  const auto table = assemble_hook_table(sources, {}, {.trace_points = requests}, findings);
  REQUIRE(table.trace_points.size() == plan.points.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CAPTURE(requests[i]);
    CHECK(table.trace_points[i].requested == plan.points[i].requested);
    CHECK(table.trace_points[i].rva == plan.points[i].rva);
    CHECK(table.trace_points[i].bytes == plan.points[i].bytes);
    CHECK(table.trace_points[i].eligible() == plan.points[i].eligible());
  }
  // What older builds do not have: the second image is of Windows 7.
  CHECK(findings.count("trace-facility-absent") ==
        (plan.facility.state == TraceFacilityState::absent ? 1 : 0));
  CHECK((plan.facility.state == TraceFacilityState::absent) ==
        (std::string_view{name} == "windows7-x64/ntdll.dll"));
  core::Findings of_none;
  CHECK(assemble_hook_table(sources, {}, {}, of_none).trace_points.empty());
  CHECK(of_none.count("trace-facility-absent") == 0);
}

TEST_CASE("what an ntdll lacks counts for ntdll, and only if a name is asked that needs it") {
  const auto kernel_file = load_stub_image("trace-points-x64/ntoskrnl.exe");
  const auto ntdll_file = load_stub_image("windows7-x64/ntdll.dll");
  if (!kernel_file || !ntdll_file) return;
  const auto kernel = kernel_file->open(), ntdll = ntdll_file->open();
  const KernelView view{kernel}, user{ntdll};
  core::Findings opening;
  const std::vector<HookTableSource> sources{
      {{ImageRole::kernel, "ntoskrnl.exe", pe::read_identity(kernel, opening), {}}, &view},
      {{ImageRole::ntdll, "ntdll.dll", pe::read_identity(ntdll, opening), {}}, &user}};
  const std::vector<std::string> known{"NtOpenThing"}, unknown{"NtIsNowhere"};
  CHECK(make_trace_plan(sources, {}, known).ntdll_findings.empty());
  const auto plan = make_trace_plan(sources, {}, unknown);
  // As in Windows, NtQuerySystemTime is a jump, not a stub.
  CHECK(plan.ntdll_findings.count("number-hole") == 1);
  CHECK(plan.findings.count("number-hole") == 0);
}

}  // namespace
}  // namespace coldtrace
