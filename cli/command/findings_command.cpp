#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/finding_codes.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

void write_text(Output& output) {
  for (const auto& row : finding_codes())
    print(output, "{:<26} {:<8} {}\n", row.code, row.severity, row.meaning);
}

void write_json(Output& output, Int64 int64) {
  JsonWriter json{output, int64};
  json.begin_array();
  for (const auto& row : finding_codes())
    json.begin_object()
        .field("code", row.code)
        .field("severity", row.severity)
        .field("meaning", row.meaning)
        .end_object();
  json.end_array().end_document();
}

}  // namespace

void add_findings_command(CLI::App& app, Exit& exit) {
  add_command<CommonOptions>(
      app, exit,
      {"findings", "List the codes of findings, for --fail-on and --tolerate",
       "  coldtrace findings\n",
       "  0  the list was written\n"
       "  2  usage, or the output cannot be written\n"},
      {"text", "json"}, [](Command&, CommonOptions&) {},
      [](const CommonOptions& options) {
        Output output{options.output};
        if (options.format == "json") {
          write_json(output, options.int64);
        } else {
          write_text(output);
        }
        output.commit();
        return Exit::ok;
      });
}

}  // namespace coldtrace::cli
