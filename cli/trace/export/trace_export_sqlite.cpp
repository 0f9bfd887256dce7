#include "cli/command/common_options.hpp"
#include "cli/sandbox/sandbox.hpp"
#include "cli/sqlite/sqlite_file.hpp"
#include "cli/trace/export/event_lines.hpp"
#include "cli/trace/export/event_tables.hpp"
#include "cli/trace/export/meta_tables.hpp"
#include "cli/trace/export/schedule_tables.hpp"
#include "cli/trace/trace_export_commands.hpp"
#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::cli {
namespace {

Exit run_trace_export_sqlite(const EventExportOptions& options) {
  EventExport exporting{options};
  if (!exporting.opened()) return Exit::failure;
  SqliteFile file;
  EventTables tables{file, exporting.input().trace.clock().known()};
  exporting.each([&](const EventLine& line) { tables.add(line); });
  tables.finish();
  auto& findings = exporting.input().findings;
  trace_export::note_without_table(tables.left_out(), EventTables::most_kinds, findings);
  trace_export::note_unfit_values(tables.unfit(), findings);
  write_schedule_tables(file, exporting.input(), exporting.selection());
  write_meta_tables(file, exporting.input());
  Output output{options.output};
  file.write_to(output);
  return exporting.finish(output);
}

}  // namespace

void add_trace_export_sqlite(CLI::App& app, Exit& exit) {
  add_command<EventExportOptions>(
      app, exit,
      {"sqlite", "Export events, processes, threads and turns on processors as an SQLite database",
       "  coldtrace trace export sqlite run.etl -o run.sqlite\n"
       "  coldtrace trace export sqlite run.etl --schemas /mnt/c/Windows/System32 -o run.sqlite\n"
       "  coldtrace trace export sqlite run.etl --process 4711 -o one.sqlite\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, or lacks what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"sqlite"},
      [](Command& command, EventExportOptions& options) {
        add_event_export_options(command, options);
        command.before_sandbox(&open_database_file);
      },
      run_trace_export_sqlite);
}

}  // namespace coldtrace::cli
