#pragma once

#include <string>
#include <vector>

#include "coldtrace/syscall-map/confidence.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// Where code of the kernel itself has a member.
struct MemberAccess {
  std::string expression;  // "_EPROCESS.Peb"
  u32 offset = 0;
  Confidence confidence = Confidence::low;
  std::vector<std::string> evidence;  // sentences
};

// What the small functions that the kernel exports read: those that say which member by their name
// alone. Ones that do more than to read it are left out.
std::vector<MemberAccess> read_member_accessors(const KernelView& kernel);

}  // namespace coldtrace::syscall_map
