#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/control/trace_control.hpp"
#include "coldtrace/nt_trace_control/trace_control_findings.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::ControlCode;
using tracefile::ControlType;
using tracefile::KernelVersion;

struct TraceControlExplainOptions : CommonOptions {
  std::string code;
  std::string version;  // empty: all
};

std::string_view or_silence(std::string_view text) {
  return text.empty() ? "not documented" : text;
}

void write_layout(Output& output, const tracefile::ControlLayout& layout,
                  std::optional<KernelVersion> version) {
  print(output, "\n{}, {:#x} bytes, {} ({})\n", layout.name.view(), layout.size,
        versions_text(layout.versions), layout.source);
  for (const auto& field : tracefile::control_fields()) {
    if (field.structure != layout.structure || field.versions.first > layout.versions.last ||
        field.versions.last < layout.versions.first ||
        (version && !field.versions.contains(*version)))
      continue;
    std::string type{to_string(field.type)};
    if (field.type == ControlType::part)
      type = tracefile::find_control_layout(field.inner, field.versions.first)->name.view();
    print(output, "  {:#04x}  {}, {}, {}{}{}\n", field.offset, field.name.view(), type,
          to_string(field.use), field.remark.empty() ? "" : ": ", field.remark);
  }
}

void write_text(Output& output, const ControlCode& code, std::optional<KernelVersion> version) {
  print(output, "{} {}{}\n", tracefile::control_code_text(code.code), code.name,
        code.microsoft_name ? "" : " (a description: Microsoft's name is not known)");
  print(output, "versions: {}\n", versions_text(code.versions));
  print(output, "input: {}\n", or_silence(code.input));
  print(output, "output: {}\n", or_silence(code.output));
  print(output, "access: {}\n", or_silence(code.access));
  print(output, "buffering: {}\n",
        code.double_buffered ? "input and output go through paged pool"
                             : "the caller's buffers are used directly");
  print(output, "source: {}, section \"{}\"\n\nchecks, in order:\n",
        tracefile::trace_control_document, code.section);
  unsigned number = 0;
  for (const auto& check : tracefile::control_checks()) {
    if (code.code < check.first_code || code.code > check.last_code ||
        (version && !check.versions.contains(*version)) ||
        (check.kind == tracefile::CheckKind::double_buffer && !code.double_buffered))
      continue;
    const auto statuses = statuses_text(check.failure());
    print(output, "  {:>2}. {}{}\n      else {}\n", ++number, check.text,
          check.versions.first == code.versions.first && check.versions.last == code.versions.last
              ? ""
          : check.first_code == 0 ? ""
                                  : fmt::format(" ({})", versions_text(check.versions)),
          statuses.empty() ? "an undocumented status" : statuses);
  }
  for (const auto* layout : layouts_of(code, version)) write_layout(output, *layout, version);
}

Exit run_trace_control_explain(const TraceControlExplainOptions& options) {
  const auto code = parse_control_code(options.code);
  const auto version = tracefile::find_kernel_version(options.version);
  const auto* row = tracefile::find_control_code(code);
  core::Findings findings;
  tracefile::note_control_code(code, version, findings);
  Output output{options.output};
  Report report{options.findings};
  report.read(options.code, findings);
  if (options.format == "json") {
    JsonWriter json{output, options.int64};
    write_control_codes(json, row ? std::vector{row} : std::vector<const ControlCode*>{}, version,
                        findings);
  } else if (row) {
    write_text(output, *row, version);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_trace_control_explain(CLI::App& app, Exit& exit) {
  add_command<TraceControlExplainOptions>(
      app, exit,
      {"explain", "Explain what a function code of NtTraceControl takes, returns and checks",
       "  coldtrace trace control explain 0x0F --windows 10.0\n"
       "  coldtrace trace control explain EtwStartLoggerCode --format json\n",
       "  0  the code was explained\n"
       "  1  no version, or not the given one, has the code\n"
       "  2  CODE is neither a number nor a name, usage, or the output cannot be "
       "written\n"},
      {"text", "json"},
      [](Command& command, TraceControlExplainOptions& options) {
        command.add_option("CODE", options.code, "Function code, as a number or by its name")
            .required();
        add_kernel_version(command, options.version, "default: all versions");
      },
      run_trace_control_explain);
}

}  // namespace coldtrace::cli
