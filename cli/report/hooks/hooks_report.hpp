#pragma once

#include "cli/command/report.hpp"
#include "cli/command/text_input.hpp"
#include "cli/report/page/page.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::cli {

// Adds the sections of hook tables, for the builds of all files together: services by build with
// their numbers, how each build differs from the one before, and the table of each with its
// evidence. False if there is none, which `report` says.
bool add_hooks_report(Page& page, const std::vector<GivenInput>& files, u64 top, Report& report);

}  // namespace coldtrace::cli
