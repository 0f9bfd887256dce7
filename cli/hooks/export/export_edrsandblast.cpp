#include "cli/hooks/export/hook_export_options.hpp"
#include "coldtrace/syscall-map/table-exports/member_rows.hpp"

namespace coldtrace::cli {
namespace {

Exit run_export_edrsandblast(const HookExportOptions& options) {
  Report report{options.findings};
  const auto builds = read_hook_export_tables(options, report);
  if (report.exit() == Exit::failure) return Exit::failure;
  core::Findings findings;
  const auto rows = syscall_map::make_edrsandblast_rows(builds, findings);
  require_export_rows(!rows.empty(), findings);
  Output output{options.output};
  print(output, "ntoskrnlVersion,{}\n", fmt::join(syscall_map::edrsandblast_columns(), ","));
  for (const auto& row : rows)
    print(output, "ntoskrnl_{}-{}.exe,{:x}\n", row.build, row.revision, fmt::join(row.values, ","));
  output.commit();
  report.read("edrsandblast", findings);
  return report.exit();
}

}  // namespace

void add_hooks_export_edrsandblast(CLI::App& app, Exit& exit) {
  add_command<HookExportOptions>(
      app, exit,
      {"edrsandblast", "NtoskrnlOffsets.csv of EDRSandblast, for x64 kernels",
       "  coldtrace hooks export edrsandblast builds.hooktab -o NtoskrnlOffsets.csv\n"
       "  coldtrace hooks table --dir builds --pdb ntkrnlmp.pdb --members edrsandblast \\\n"
       "    --format hooktab -o builds.hooktab\n",
       hook_export_exit_status},
      {"csv"}, add_hook_export_options, run_export_edrsandblast);
}

}  // namespace coldtrace::cli
