#pragma once

#include "coldtrace/syscall-map/patch_plan.hpp"
#include "syscall-map/code/function_body.hpp"
#include "syscall-map/context-switch/patched_function.hpp"

namespace coldtrace::syscall_map {

// How the function can be made to call a driver. Calls through pointers are not seen.
PatchPlan make_patch_plan(const KernelCode& code, const Disassembler& disassembler,
                          const FunctionBody& body, const PatchedFunction& function);

}  // namespace coldtrace::syscall_map
