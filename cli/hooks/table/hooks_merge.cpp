#include <algorithm>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "coldtrace/syscall-map/hook_table_differences.hpp"
#include "coldtrace/syscall-map/hook_table_encoder.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::HookTable;

struct Options : CommonOptions {
  std::vector<std::string> tables;
  bool no_evidence = false;
};

const pe::Identity& kernel_of(const HookTable& build) {
  return syscall_map::find_kernel(build)->identity;
}

// Adds a build, unless one of this kernel is there: then it must say the same.
void add_build(std::vector<HookTable>& builds, HookTable build, core::Findings& findings) {
  const auto known = std::find_if(builds.begin(), builds.end(), [&](const HookTable& other) {
    return pe::same_headers(kernel_of(other), kernel_of(build));
  });
  if (known == builds.end()) {
    builds.push_back(std::move(build));
    return;
  }
  // A plan is of who made it, not of the build: one table may have it and the other not.
  if (known->trace_points.empty()) known->trace_points = build.trace_points;
  if (build.trace_points.empty()) build.trace_points = known->trace_points;
  const auto differences = syscall_map::compare_hook_tables(*known, build);
  if (differences.empty())
    findings.info("image-twice", std::nullopt,
                  "the build of the kernel with stamp {:#010x} is in an earlier table, with the "
                  "same values",
                  kernel_of(build).time_date_stamp);
  else
    findings.warning("build-conflict", std::nullopt,
                     "the build of the kernel with stamp {:#010x} has {} other values than in an "
                     "earlier table, which is kept; the first is {}",
                     kernel_of(build).time_date_stamp, differences.size(),
                     differences.front().path);
}

Exit run(const Options& options) {
  Output output{options.output};
  Report report{options.findings};
  std::vector<HookTable> builds;
  for (const auto& path : options.tables) {
    auto table = read_hook_table_file(path, report);
    if (!table) continue;
    core::Findings findings;
    for (auto& build : *table) add_build(builds, std::move(build), findings);
    report.read(path, findings);
  }
  if (report.exit() == Exit::failure) return Exit::failure;
  write_hook_table_binary(output, builds, !options.no_evidence);
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_merge(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"merge", "Merge binary hook tables into one",
       "  coldtrace hooks merge old.hooktab new.hooktab -o tracer.hooktab\n",
       "  0  the result has the builds of all tables\n"
       "  1  two tables differ on a build, of which the first is kept, or a table is "
       "unreadable\n"
       "  2  no table could be read, or the output cannot be written\n"},
      {"hooktab"},
      [](Command& command, Options& options) {
        command.add_input("TABLE", options.tables, "Binary hook tables; earlier ones win")
            .required();
        command.add_flag("--no-evidence", options.no_evidence,
                         "Leave out the sentences that prove each value");
      },
      run);
}

}  // namespace coldtrace::cli
