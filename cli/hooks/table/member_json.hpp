#pragma once

#include "cli/output/json.hpp"
#include "coldtrace/syscall-map/member_value.hpp"

namespace coldtrace::cli {

// A value of a member list; docs/commands/hook-table.md describes it.
void write_member(JsonWriter& json, const syscall_map::MemberValue& member);

}  // namespace coldtrace::cli
