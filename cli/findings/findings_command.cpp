#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/version.hpp"
#include "cli/findings/finding_document.hpp"
#include "cli/findings/finding_pages.hpp"
#include "cli/help/help_text.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

struct FindingsCommandOptions : CommonOptions {
  std::vector<std::string> codes;
};

// Below a list that is longer than the terminal.
void write_hint(Output& output) {
  print(output, "\n{}\n",
        wrapped(fmt::format("{}; 'coldtrace findings CODE' says what one means and what to do, "
                            "--pager shows this list page by page",
                            counted(finding_codes().size(), "code", "codes")),
                0, output.columns()));
}

// In lines of at most `columns`; whole where that is 0.
void write_list(Output& output, std::size_t columns) {
  constexpr std::size_t indent = 36;
  constexpr std::size_t least = 30;  // columns of a meaning beside its code
  if (columns > 0 && columns < indent + least) {
    for (const auto& row : finding_codes())
      print(output, "{} ({})\n  {}\n", row.code, row.severity,
            wrapped(std::string{row.meaning}, 2, columns));
    return write_hint(output);
  }
  if (columns > 0) print(output, "{:<26} {:<8} {}\n", "code", "severity", "meaning");
  for (const auto& row : finding_codes())
    print(output, "{:<26} {:<8} {}\n", row.code, row.severity,
          columns > 0 ? wrapped(std::string{row.meaning}, indent, columns)
                      : std::string{row.meaning});
  if (columns > 0) write_hint(output);
}

void write_paragraph(Output& output, const std::string& text) {
  print(output, "\n  {}\n", wrapped(text, 2, output_width()));
}

void write_pages(Output& output, const std::vector<FindingPage>& pages) {
  for (const auto& [finding, cause, advice] : pages) {
    print(output, "{}{} ({})\n", &finding == &pages.front().finding ? "" : "\n", finding.code,
          finding.severity);
    write_paragraph(output, fmt::format("What: {}.", finding.meaning));
    write_paragraph(output, fmt::format("Why: {}", cause));
    write_paragraph(output, fmt::format("What to do: {}", advice));
  }
}

void write_json(Output& output, const std::vector<FindingPage>& pages, Int64 int64) {
  JsonWriter json{output, int64};
  json.begin_object()
      .field("schema", "coldtrace.findings/1")
      .field("tool", tool_version)
      .key("codes")
      .begin_array();
  for (const auto& [finding, cause, advice] : pages)
    json.object("code", finding.code, "severity", finding.severity, "meaning", finding.meaning,
                "cause", cause, "advice", advice);
  json.end_array().end_object().end_document();
}

Exit run_findings_command(const FindingsCommandOptions& options) {
  const auto pages = finding_pages(options.codes);
  Output output{options.output};
  if (options.format == "json")
    write_json(output, pages, options.int64);
  else if (options.format == "markdown")
    output.write(finding_document(pages));
  else if (options.codes.empty())
    write_list(output, options.output.columns);
  else
    write_pages(output, pages);
  output.commit();
  return Exit::ok;
}

}  // namespace

void add_findings_command(CLI::App& app, Exit& exit) {
  add_command<FindingsCommandOptions>(
      app, exit,
      {"findings", "List the codes of findings, or say what some mean and what to do about them",
       "  coldtrace findings\n"
       "  coldtrace findings buffers-lost torn-fixup\n"
       "  coldtrace findings --format json hooked-stub | jq -r '.codes[].advice'\n",
       "  0  the list or the pages were written\n"
       "  2  usage, no such code, or the output cannot be written\n"},
      {"text", "json", "markdown"},
      [](Command& command, FindingsCommandOptions& options) {
        command.add_option("CODE", options.codes, "Say what these mean, instead of the list")
            .list("CODE")
            .finding_codes();
      },
      run_findings_command);
}

}  // namespace coldtrace::cli
