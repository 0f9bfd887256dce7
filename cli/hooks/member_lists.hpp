#pragma once

#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "coldtrace/syscall-map/member_list.hpp"

namespace coldtrace::cli {

void add_members_option(Command& command, std::vector<std::string>& lists);

// The requests of the lists, which are names of built-in ones or else paths of files. Throws
// Failure with the place of an error.
std::vector<syscall_map::MemberRequest> read_member_lists(const std::vector<std::string>& lists);

}  // namespace coldtrace::cli
