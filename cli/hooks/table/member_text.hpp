#pragma once

#include <string>
#include <string_view>

#include "coldtrace/syscall-map/member_value.hpp"

namespace coldtrace::cli {

// "pdb", "code", "pdb+code", or "-" where nothing has the member.
std::string_view sources_text(const syscall_map::MemberValue& member);

// "0x4b8", "-1" of a constant, or "-".
std::string value_text(const syscall_map::MemberValue& member);

}  // namespace coldtrace::cli
