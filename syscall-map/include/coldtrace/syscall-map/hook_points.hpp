#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/patch_sites.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/service_table.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// The kind of a hook point.
enum class HookPointKind : u8 {
  stub,            // a stub that enters the kernel: NtX of ntdll and win32u, ZwX of a kernel
  service,         // the function of a service table's entry
  context_switch,  // SwapContext, EnlightenedSwapContext
};
[[nodiscard]] std::string_view to_string(HookPointKind kind);

// A place that tracers and others hook.
struct HookPoint {
  HookPointKind kind = HookPointKind::stub;
  std::string name;  // empty if nothing names it
  pe::Rva rva{};
  std::optional<u16> number;  // of the service
};

// Places of an image where hooks are placed, and the tables that lead to services.
struct HookPoints {
  std::vector<HookPoint> points;            // by RVA; of several at one place, the first of a kind
  std::vector<LocatedServiceTable> tables;  // each the only one for its services
  // Windows 7's two context switches: the first leads to the second under Hyper-V.
  std::optional<pe::Rva> patched_switch;
  std::optional<pe::Rva> switch_in_its_place;
};

// The hook points of a file, whose stubs, service tables and context switch are found as by "hooks
// table". `symbols` are those of its PDB, if any.
[[nodiscard]] HookPoints find_hook_points(const KernelView& view, const pe::Identity& identity,
                                          const std::vector<NamedPlace>& symbols);

// `no-services`: there are no hook points although they were requested.
void note_no_points(const HookPoints& points, core::Findings& findings);

// Number of bytes of a row of a service table.
[[nodiscard]] constexpr u32 row_size(TableForm form) {
  return form == TableForm::va64 ? 8 : 4;
}

// The rows of the tables, as sites that are compared one by one.
[[nodiscard]] std::vector<pe::PatchSite> service_row_sites(const HookPoints& points);

}  // namespace coldtrace::syscall_map
