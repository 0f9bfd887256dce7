#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/command/finding_codes.hpp"
#include "cli/output/text.hpp"

namespace coldtrace::cli {
namespace {

struct Row {
  std::string_view code;
  std::string_view severity;
  std::string_view meaning;
};

constexpr Row rows[] = {
#define FINDING(code, severity, meaning) {code, severity, meaning},
#include "cli/command/finding_codes.inc"
#undef FINDING
};

void write_text(Output& output) {
  for (const auto& row : rows)
    print(output, "{:<26} {:<8} {}\n", row.code, row.severity, row.meaning);
}

void write_json(Output& output, Int64 int64) {
  JsonWriter json{output, int64};
  json.begin_array();
  for (const auto& row : rows)
    json.begin_object()
        .field("code", row.code)
        .field("severity", row.severity)
        .field("meaning", row.meaning)
        .end_object();
  json.end_array().end_document();
}

}  // namespace

bool is_finding_code(std::string_view code) {
  return std::any_of(std::begin(rows), std::end(rows),
                     [&](const Row& row) { return row.code == code; });
}

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
