#include <algorithm>

#include "cli/hooks/export/hook_export_options.hpp"
#include "coldtrace/syscall-map/table-exports/member_rows.hpp"

namespace coldtrace::cli {
namespace {

void write_row(Output& output, const syscall_map::KphdynRow& row) {
  print(output, "    <data arch=\"{}\"", row.arch);
  if (!row.version.empty()) print(output, " version=\"{}\"", row.version);
  print(output, " file=\"{}\"", row.file);
  if (!row.hash.empty()) print(output, " hash=\"{}\"", row.hash);
  print(output, " timestamp=\"{:#010x}\" size=\"{:#010x}\">{}</data>\n", row.time_date_stamp,
        row.size_of_image, row.fields);
}

Exit run_export_kphdyn(const HookExportOptions& options) {
  Report report{options.findings};
  const auto builds = read_hook_export_tables(options, report);
  if (report.exit() == Exit::failure) return Exit::failure;
  core::Findings findings;
  const auto table = syscall_map::make_kphdyn_table(builds, findings);
  require_export_rows(!table.rows.empty(), findings);
  Output output{options.output};
  output.write(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<!-- Not from System Informer, and not signed: its driver accepts only dynamic data signed\n"
      "     by its authors. -->\n"
      "<dyn>\n");
  for (const auto& row : table.rows) write_row(output, row);
  for (const auto& fields : table.fields) {
    print(output, "    <fields id=\"{}\">\n", fields.number);
    for (const auto& [name, value] : fields.values)
      print(output, "        <field value=\"{:#06x}\" name=\"{}\"/>\n", value, name);
    output.write("    </fields>\n");
  }
  output.write("</dyn>\n");
  output.commit();
  report.read("kphdyn", findings);
  return report.exit();
}

}  // namespace

void add_hooks_export_kphdyn(CLI::App& app, Exit& exit) {
  add_command<HookExportOptions>(
      app, exit,
      {"kphdyn", "kphdyn.xml of System Informer, for x64 and ARM64 kernels, unsigned",
       "  coldtrace hooks export kphdyn builds.hooktab -o kphdyn.xml\n"
       "  coldtrace hooks table --dir builds --pdb ntkrnlmp.pdb --members kphdyn \\\n"
       "    --format hooktab -o builds.hooktab\n",
       hook_export_exit_status},
      {"xml"}, add_hook_export_options, run_export_kphdyn);
}

}  // namespace coldtrace::cli
