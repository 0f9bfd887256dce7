#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "syscall-map/code/kernel_code.hpp"

namespace coldtrace::syscall_map {

// Bytes that are a direct branch with a 4-byte displacement, if they are an instruction at all.
struct DirectBranch {
  pe::Rva from{};
  pe::Rva target{};
  bool call = false;
};

// Addresses from `start` up to but not including `end`.
struct RvaRange {
  u64 start = 0;
  u64 end = 0;
};

// All calls (E8), jumps (E9) and conditional jumps (0F 80 to 0F 8F) in executable sections that
// lead into one of the ranges, by target. Bytes that are not a branch lead to a given address by
// chance once in 2^32.
std::vector<DirectBranch> find_direct_branches(const KernelCode& code, std::vector<RvaRange> ranges,
                                               core::Findings& findings);

}  // namespace coldtrace::syscall_map
