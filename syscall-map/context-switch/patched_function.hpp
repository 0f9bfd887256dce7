#pragma once

#include <optional>
#include <span>

#include "coldtrace/syscall-map/call_site.hpp"
#include "syscall-map/code/direct_branches.hpp"

namespace coldtrace::syscall_map {

// The function that a plan is made for.
struct PatchedFunction {
  pe::Rva entry{};
  std::optional<pe::Rva> stack_switch;     // an inner jump has to come before it
  bool self_patched = false;               // Windows has put its own hot patch there
  std::span<const DirectBranch> branches;  // by target; all that lead near the function
  std::span<const CallSite> callers;
};

}  // namespace coldtrace::syscall_map
