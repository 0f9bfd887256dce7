#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/call_site.hpp"
#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/patch_plan.hpp"

namespace coldtrace::syscall_map {

// When the kernel switches threads at a place. Windows 7 has two complete context switches: under
// Hyper-V, it writes EB F9 over the first two bytes of SwapContext, which leads to a jump in the
// five bytes before it, to EnlightenedSwapContext; otherwise nothing leads there.
enum class SwitchCondition : u8 {
  unknown,         // undetermined: several places could be the one
  always,          // whenever it is called, and nothing diverts the calls
  unless_patched,  // as long as its first bytes are not EB F9
  when_patched,    // if those of the other are, and the jump before the other leads here
};

[[nodiscard]] std::string_view to_string(SwitchCondition condition);

// The condition as a sentence.
[[nodiscard]] std::string_view explain(SwitchCondition condition);

// A place that is or may be the context switch.
struct ContextSwitch {
  std::string name;  // "SwapContext" or "EnlightenedSwapContext"
  pe::Rva rva{};
  std::optional<u64> file_offset;
  u64 address = 0;  // at the preferred base
  SwitchCondition condition = SwitchCondition::unknown;
  // 28 bytes, fewer if the section ends or the loader adjusts what follows.
  std::vector<u8> first_bytes;
  std::optional<pe::Rva> end;              // where .pdata bounds it
  std::optional<u32> kernel_stack_offset;  // of KTHREAD.KernelStack
  std::vector<CallSite> callers;           // ascending, without calls from itself
  bool self_patched = false;          // its first bytes are the EB F9 of Windows 7 under Hyper-V
  std::vector<std::string> evidence;  // sentences
  Confidence confidence = Confidence::low;
  bool verified = false;  // whether the shape was seen in a real kernel
  PatchPlan plan;
};

// The result of the search for SwapContext.
struct ContextSwitchSearch {
  std::vector<ContextSwitch> candidates;  // by RVA; several are never merged
  std::vector<std::string> reasons;  // why there is no SwapContext, or more than one; sentences
  core::Findings findings;
};

// Looks for the context switch of a kernel: at published places, by signatures, and by structure.
// `symbols` are those of the matching PDB, if any: their names take precedence.
[[nodiscard]] ContextSwitchSearch find_context_switch(const pe::ImageTables& tables,
                                                      const std::vector<NamedPlace>& symbols = {});

}  // namespace coldtrace::syscall_map
