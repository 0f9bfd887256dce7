#pragma once

#include <optional>
#include <span>

#include "coldtrace/syscall-map/call_site.hpp"
#include "syscall-map/code/direct_branches.hpp"

namespace coldtrace::syscall_map {

// The function for which a plan is made.
struct PatchedFunction {
  pe::Rva entry{};
  std::optional<pe::Rva> stack_switch;     // an inner jump has to precede it
  bool self_patched = false;               // Windows has its own hot patch there
  std::span<const DirectBranch> branches;  // by target; all that lead near the function
  std::span<const CallSite> callers;
};

}  // namespace coldtrace::syscall_map
