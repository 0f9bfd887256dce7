#pragma once

#include <string>
#include <vector>

#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// Where the kernel's own code accesses a member.
struct MemberAccess {
  std::string expression;  // "_EPROCESS.Peb"
  u32 offset = 0;
  Confidence confidence = Confidence::low;
  std::vector<std::string> evidence;  // sentences
};

// What small exported functions of the kernel read: only those whose name says which member. Those
// that do more than read it are left out.
std::vector<MemberAccess> read_member_accessors(const KernelView& kernel);

}  // namespace coldtrace::syscall_map
