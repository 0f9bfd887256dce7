#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook_table.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::syscall_map {

// What a built-in member list asks for, in its order.
std::vector<MemberRequest> built_in_requests(std::string_view list);

// The value of a build that answers the request, under whatever name; null where there is none, or
// it is of low confidence.
const MemberValue* find_value(const HookTable& build, const MemberRequest& request);

// "ntoskrnl.exe 10.0.19041.1 x64, stamp 0x5f..."
std::string describe_kernel(const HookTable& build);

// Counts builds that are left out, and values that are.
void report_row(core::Findings& findings, const HookTable& build, std::string_view why);
void report_value(core::Findings& findings, const HookTable& build, std::string_view name,
                  std::string_view instead);

}  // namespace coldtrace::syscall_map
