#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"

namespace coldtrace::cli {
namespace {

struct HooksMergeOptions : CommonOptions {
  std::vector<std::string> tables;
  bool no_evidence = false;
};

Exit run_hooks_merge(const HooksMergeOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  const auto builds = read_hook_table_files(options.tables, report);
  if (report.exit() == Exit::failure) return Exit::failure;
  write_hook_table_binary(output, builds, !options.no_evidence);
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_merge(CLI::App& app, Exit& exit) {
  add_command<HooksMergeOptions>(
      app, exit,
      {"merge", "Merge binary hook tables into one",
       "  coldtrace hooks merge old.hooktab new.hooktab -o tracer.hooktab\n",
       "  0  the result has the builds of all tables\n"
       "  1  two tables differ on a build (the first is kept), or a table is unreadable\n"
       "  2  no table could be read, or the output cannot be written\n"},
      {"hooktab"},
      [](Command& command, HooksMergeOptions& options) {
        command.add_input("TABLE", options.tables, "Binary hook tables; earlier ones win")
            .required();
        command.add_flag("--no-evidence", options.no_evidence,
                         "hooktab: leave out the evidence for each value");
      },
      run_hooks_merge);
}

}  // namespace coldtrace::cli
