#pragma once

#include <vector>

#include "coldtrace/syscall-map/patch_plan.hpp"
#include "syscall-map/code/function_body.hpp"
#include "syscall-map/context-switch/patched_function.hpp"

namespace coldtrace::syscall_map {

// Bytes before the entry that a hot patch takes for its long jump.
inline constexpr u32 long_jump_size = 5;

struct IncomingBranches {
  std::vector<IncomingBranch> branches;  // by target, then source
  bool truncated = false;                // there were more than any function has
};

// The branches into the first `size` bytes of a function and into the padding that a hot patch
// uses, and those from outside to anywhere in it except for calls of the entry. Branches of the
// function itself are found by its control flow. Outside, bytes that look like a branch count if
// disassembly that begins before them reaches them; if that is not certain, those with a 4-byte
// displacement that leads to an instruction count too.
IncomingBranches find_incoming_branches(const KernelCode& code, const Disassembler& disassembler,
                                        const FunctionBody& body, const PatchedFunction& function,
                                        u32 size);

}  // namespace coldtrace::syscall_map
