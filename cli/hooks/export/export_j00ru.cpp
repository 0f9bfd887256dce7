#include <map>
#include <set>

#include "cli/hooks/export/hook_export_options.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_encoder.hpp"
#include "coldtrace/syscall-map/table-exports/syscall_columns.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ServiceTable;
using Columns = std::vector<syscall_map::SystemColumn>;

struct ExportJ00ruOptions : HookExportOptions {
  std::string table = "nt";
};

std::set<std::string_view> names_of(const Columns& columns) {
  std::set<std::string_view> names;
  for (const auto& column : columns)
    for (const auto& [name, number] : column.numbers) names.insert(name);
  return names;
}

void write_csv(Output& output, const Columns& columns) {
  output.write("System call");
  for (const auto& column : columns) print(output, ",{} ({})", column.family, column.version);
  output.write("\n");
  for (const auto name : names_of(columns)) {
    output.write(csv_field(name));
    for (const auto& column : columns) {
      const auto found = column.numbers.find(std::string{name});
      found == column.numbers.end() ? output.write(",") : print(output, ",{:#06x}", found->second);
    }
    output.write("\n");
  }
}

// Calls `write` for each column between the braces of its family.
template <class Write>
void write_families(JsonWriter& json, const Columns& columns, Write write) {
  std::string_view family;
  for (const auto& column : columns) {
    if (column.family != family) {
      if (!family.empty()) json.end_object();
      family = column.family;
      json.key(family).begin_object();
    }
    write(column);
  }
  if (!family.empty()) json.end_object();
}

void write_per_system(JsonWriter& json, const Columns& columns) {
  json.begin_object();
  write_families(json, columns, [&](const syscall_map::SystemColumn& column) {
    std::multimap<u16, std::string_view> by_number;
    for (const auto& [name, number] : column.numbers) by_number.emplace(number, name);
    json.key(std::string_view{column.version}).begin_object();
    for (const auto& [number, name] : by_number) json.field(name, number);
    json.end_object();
  });
  json.end_object().end_document();
}

void write_per_syscall(JsonWriter& json, const Columns& columns) {
  json.begin_object();
  for (const auto name : names_of(columns)) {
    Columns own;
    for (const auto& column : columns)
      if (const auto found = column.numbers.find(std::string{name}); found != column.numbers.end())
        own.push_back({column.family, column.version, {*found}});
    json.key(name).begin_object();
    write_families(json, own, [&](const syscall_map::SystemColumn& column) {
      json.field(std::string_view{column.version}, column.numbers.begin()->second);
    });
    json.end_object();
  }
  json.end_object().end_document();
}

Exit run_export_j00ru(const ExportJ00ruOptions& options) {
  Report report{options.findings};
  const auto builds = read_hook_export_tables(options, report);
  if (report.exit() == Exit::failure) return Exit::failure;
  core::Findings findings;
  Columns columns;
  if (!builds.empty())
    columns = syscall_map::make_system_columns(
        builds, options.table == "nt" ? ServiceTable::nt : ServiceTable::win32k,
        syscall_map::find_kernel(builds.front())->identity.machine, findings);
  require_export_rows(!columns.empty(), findings);
  Output output{options.output};
  if (options.format == "csv") {
    write_csv(output, columns);
  } else {
    JsonWriter json{output, options.int64};
    options.format == "json-per-system" ? write_per_system(json, columns)
                                        : write_per_syscall(json, columns);
  }
  output.commit();
  report.read("j00ru", findings);
  return report.exit();
}

}  // namespace

void add_hooks_export_j00ru(CLI::App& app, Exit& exit) {
  add_command<ExportJ00ruOptions>(
      app, exit,
      {"j00ru", "System call numbers in the layout of j00ru's tables, for one machine",
       "  coldtrace hooks export j00ru builds.hooktab -o nt-per-syscall.json\n"
       "  coldtrace hooks export j00ru --format csv --table win32k builds.hooktab\n",
       hook_export_exit_status},
      {"json-per-syscall", "json-per-system", "csv"},
      [](Command& command, ExportJ00ruOptions& options) {
        add_hook_export_options(command, options);
        command.add_option("--table", options.table, "Services of the kernel, or of win32k")
            .one_of({"nt", "win32k"})
            .capture_default_str();
      },
      run_export_j00ru);
}

}  // namespace coldtrace::cli
