#pragma once

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/report/page/page.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// Adds the sections of binary hook tables, with the builds of all files together: services by build
// with their numbers, the changes from each build to the next, and the table of each with its
// evidence. False, and a report, if there is no table.
bool add_hooks_report(Page& page, const std::vector<GivenInput>& files, u64 top, Report& report);

}  // namespace coldtrace::cli
