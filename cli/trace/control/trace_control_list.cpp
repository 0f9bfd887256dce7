#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/control/trace_control.hpp"
#include "coldtrace/nt_trace_control/trace_control_findings.hpp"

namespace coldtrace::cli {
namespace {

struct TraceControlListOptions : CommonOptions {
  std::string version;  // empty: all
};

Exit run_trace_control_list(const TraceControlListOptions& options) {
  const auto version = tracefile::find_kernel_version(options.version);
  std::vector<const tracefile::ControlCode*> codes;
  for (const auto& code : tracefile::control_codes())
    if (!version || code.versions.contains(*version)) codes.push_back(&code);
  Output output{options.output};
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_control_codes(json, codes, version, {});
  } else {
    output.write("code  Windows          name\n");
    for (const auto* code : codes)
      print(output, "{}  {:<15}  {}\n", tracefile::control_code_text(code->code),
            versions_text(code->versions), code->name);
  }
  output.commit();
  return Exit::ok;
}

}  // namespace

void add_trace_control_list(CLI::App& app, Exit& exit) {
  add_command<TraceControlListOptions>(
      app, exit,
      {"list", "List the function codes of NtTraceControl",
       "  coldtrace trace control list\n"
       "  coldtrace trace control list --windows 6.1 --format json\n",
       "  0  the codes were written\n"
       "  2  usage, or the output cannot be written\n"},
      {"text", "json"},
      [](Command& command, TraceControlListOptions& options) {
        add_kernel_version(command, options.version, "default: all versions");
      },
      run_trace_control_list);
}

}  // namespace coldtrace::cli
