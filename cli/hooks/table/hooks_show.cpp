#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/hooks/hooks_commands.hpp"
#include "cli/hooks/table/hook_table_file.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/sqlite/sqlite_file.hpp"

namespace coldtrace::cli {
namespace {

struct HooksShowOptions : CommonOptions {
  std::string table;
};

Exit run_hooks_show(const HooksShowOptions& options) {
  Output output{options.output};
  Report report{options.findings};
  auto builds = read_hook_table_file(options.table, report);
  if (!builds) return Exit::failure;
  report.read(options.table, {});
  HookTableDocument document;
  document.builds = std::move(*builds);
  write_hook_table(output, options, true, document);
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_show(CLI::App& app, Exit& exit) {
  add_command<HooksShowOptions>(
      app, exit,
      {"show", "Show what a binary hook table contains",
       "  coldtrace hooks show tracer.hooktab\n"
       "  coldtrace hooks show --format json tracer.hooktab\n",
       "  0  the table is intact\n"
       "  1  there is a finding that --fail-on names\n"
       "  2  it is damaged, of another version, or not a hook table\n"},
      {"text", "json", "c-header", "sqlite"},
      [](Command& command, HooksShowOptions& options) {
        command
            .add_input("TABLE", options.table, "A file that 'hooks table' or 'hooks merge' wrote")
            .required();
        command.before_sandbox([&options](SandboxNeeds& needs) {
          if (options.format == "sqlite") open_database_file(needs);
        });
      },
      run_hooks_show);
}

}  // namespace coldtrace::cli
