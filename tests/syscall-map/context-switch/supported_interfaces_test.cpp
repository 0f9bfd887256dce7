#include "coldtrace/syscall-map/supported_interfaces.hpp"

#include "tests/syscall-map/context-switch/switch_kernel.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;
using test::load_switch_kernel;

TEST_CASE("interfaces are those that the kernel exports, with where") {
  const auto kernel = load_switch_kernel("11-x64");
  if (!kernel) return;
  core::Findings findings;
  std::string there;
  for (const auto& interface : find_supported_interfaces(kernel->open(), findings)) {
    CHECK_FALSE(interface.purpose.empty());
    CHECK_FALSE(interface.note.empty());
    CHECK(interface.exported == interface.rva.has_value());
    if (interface.exported) CHECK(value(*interface.rva) == kernel->at(interface.name));
    if (interface.exported || interface.imported) there += interface.name + " ";
  }
  CHECK(there == "PsSetCreateProcessNotifyRoutineEx2 KeSetSystemServiceCallback TraceInitSystem ");
  CHECK(findings.empty());
}

TEST_CASE("a kernel that tells of context switches itself is a finding") {
  const auto kernel = load_switch_kernel("2003-x86");
  if (!kernel) return;
  core::Findings findings;
  const auto interfaces = find_supported_interfaces(kernel->open(), findings);
  REQUIRE_FALSE(interfaces.empty());
  CHECK(interfaces.front().name == "KeSetSwapContextNotifyRoutine");
  CHECK(interfaces.front().exported);
  CHECK(findings.count("context-switch-supported") == 1);
}

}  // namespace
}  // namespace coldtrace
