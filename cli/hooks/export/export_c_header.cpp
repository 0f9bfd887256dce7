#include "cli/hooks/export/hook_export_options.hpp"
#include "cli/hooks/table/hook_table_formats.hpp"

namespace coldtrace::cli {
namespace {

Exit run_export_c_header(const HookExportOptions& options) {
  Report report{options.findings};
  HookTableDocument document;
  document.builds = read_hook_export_tables(options, report);
  if (report.exit() == Exit::failure) return Exit::failure;
  Output output{options.output};
  write_hook_table_c_header(output, document);
  output.commit();
  return report.exit();
}

}  // namespace

void add_hooks_export_c_header(CLI::App& app, Exit& exit) {
  add_command<HookExportOptions>(
      app, exit,
      {"c-header", "C89 header with everything in the tables",
       "  coldtrace hooks export c-header a.hooktab b.hooktab -o kernels.h\n",
       hook_export_exit_status},
      {"c-header"}, add_hook_export_options, run_export_c_header);
}

}  // namespace coldtrace::cli
