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
  bool truncated = false;                // there are more than any function has
};

// The branches into the first `size` bytes of a function and into the padding that a hot patch
// takes, and those from outside to anywhere in it but for calls of the entry. Branches of the
// function itself are those that its flow of control has. Outside, bytes that look like a branch
// count when disassembly that begins before them meets them; where it is not sure, those count too
// whose distance has four bytes and leads to an instruction.
IncomingBranches find_incoming_branches(const KernelCode& code, const Disassembler& disassembler,
                                        const FunctionBody& body, const PatchedFunction& function,
                                        u32 size);

}  // namespace coldtrace::syscall_map
