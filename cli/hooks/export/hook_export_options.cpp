#include "cli/hooks/export/hook_export_options.hpp"

#include "cli/hooks/table/hook_table_file.hpp"

namespace coldtrace::cli {

void add_hook_export_options(Command& command, HookExportOptions& options) {
  command
      .add_input("TABLE", options.tables,
                 "Binary hook tables from 'hooks table' or 'hooks merge'; earlier ones win")
      .required();
}

std::vector<syscall_map::HookTable> read_hook_export_tables(const HookExportOptions& options,
                                                            Report& report) {
  return read_hook_table_files(options.tables, report);
}

void require_export_rows(bool any, const core::Findings& findings) {
  if (any) return;
  throw Failure{findings.empty()
                    ? std::string{"the tables have no build"}
                    : fmt::format("nothing is left to write: {}", findings.all().front().text)};
}

}  // namespace coldtrace::cli
