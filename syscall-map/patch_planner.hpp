#pragma once

#include <optional>
#include <span>
#include <vector>

#include "syscall-map/direct_branches.hpp"
#include "syscall-map/function_body.hpp"
#include "syscall-map/patch_plan.hpp"

namespace coldtrace::syscall_map {

// The function that a plan is made for.
struct PatchedFunction {
  pe::Rva entry{};
  std::optional<pe::Rva> stack_switch;     // an inner jump has to come before it
  bool self_patched = false;               // Windows has put its own hot patch there
  std::span<const DirectBranch> branches;  // by target; all that lead near the function
  std::span<const CallSite> callers;
};

// How the function can be made to call a driver. Calls through pointers are not seen.
PatchPlan make_patch_plan(const KernelCode& code, const Disassembler& disassembler,
                          const FunctionBody& body, const PatchedFunction& function);

}  // namespace coldtrace::syscall_map
