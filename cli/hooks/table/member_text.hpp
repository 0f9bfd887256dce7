#pragma once

#include <string>

#include "coldtrace/syscall-map/member_value.hpp"

namespace coldtrace::cli {

// "pdb", "code", "inferred", those of them that agree as "pdb+code", or "-" if no source has the
// member.
std::string sources_text(const syscall_map::MemberValue& member);

// "0x4b8", "-1" for a constant, or "-".
std::string value_text(const syscall_map::MemberValue& member);

}  // namespace coldtrace::cli
