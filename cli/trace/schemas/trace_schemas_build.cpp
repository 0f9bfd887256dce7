#include <array>

#include "cli/command/common_options.hpp"
#include "cli/command/output_guard.hpp"
#include "cli/images/digests.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/trace/trace_commands.hpp"
#include "cli/trace/trace_schemas.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/schema_files/schema_module.hpp"
#include "coldtrace/schema_files/store_builder.hpp"

namespace coldtrace::cli {
namespace {

struct TraceSchemasBuildOptions : CommonOptions {
  std::vector<std::string> inputs;
  SchemaOptions schemas;  // the languages of it
};

std::string digest_of(const std::string& path) {
  const auto bytes = core::read_whole_file(path, schema_files::largest_module);
  if (!bytes) return {};
  return compute_digest("sha256", std::array{core::ByteView{*bytes}}).value_or(std::string{});
}

Exit run_trace_schemas_build(const TraceSchemasBuildOptions& options) {
  Report report{options.findings};
  schema_files::StoreBuilder builder{options.schemas.languages, digest_of};
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("reading", "files", 0);
  for (const auto& path : options.inputs) {
    core::Findings findings;
    builder.add(path, findings, progress.hook());
    report.read(path, findings);
  }
  guard_output(options.output, options.format, builder.sources());
  if (builder.providers() == 0) {
    report.failed(options.inputs.front(), "no file declares providers of events");
    return Exit::failure;
  }
  Output output{options.output};
  output.write(core::to_chars(builder.finish()));
  output.commit();
  return report.exit();
}

}  // namespace

void add_trace_schemas_build(CLI::App& app, Exit& exit) {
  add_command<TraceSchemasBuildOptions>(
      app, exit,
      {"build", "Build one store from the event schemas that files and folders contain",
       "  coldtrace trace schemas build /mnt/c/Windows -o windows.ctschemas\n"
       "  coldtrace trace schemas build windows.ctschemas extra.man -o both.ctschemas\n",
       "  0  it was written\n"
       "  1  it was written, but a file that declares events is damaged or cannot be read\n"
       "  2  no file declares events, or the store cannot be written\n"},
      {"ctschemas"},
      [](Command& command, TraceSchemasBuildOptions& options) {
        command
            .add_input("FILE|DIR", options.inputs,
                       "PE files, manifests (.man), stores, and folders with such files in them or "
                       "below; known by what is in them")
            .required();
        add_language_option(command, options.schemas);
      },
      run_trace_schemas_build);
}

}  // namespace coldtrace::cli
