// Any bytes as a trace: what each analysis and each export makes of it is JSON and CSV that strict
// readers of another make take.

#include <cstdint>
#include <span>
#include <string>

#include "cli/report/report_command.hpp"
#include "coldtrace/core/text.hpp"
#include "fixtures/builders/temporary_directory.hpp"
#include "fuzz/cli/checked_commands.hpp"

namespace {

using namespace coldtrace;

void add_analyses(fuzz::ChosenCommands& chosen, const std::string& trace) {
  for (const auto* name : {"info", "deadlocks", "symbols", "top", "tree"})
    chosen.add({"trace", name, "-j1", trace}, {"json"});
  for (const auto* name : {"cpu", "idle", "io", "priority", "schedule", "services"})
    chosen.add({"trace", name, "-j1", trace}, {"json", "csv"});
  chosen.add({"trace", "tree", "-j1", trace}, {"svg", "dot"});
  chosen.add({"trace", "compare", "-j1", trace, trace}, {"json"});
  chosen.add({"trace", "check", "-j1", trace, "--expect", "pid > 0"}, {"json", "junit"});
  chosen.add({"trace", "graph", "wait-for", "-j1", trace}, {"json", "dot", "svg"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fixtures::TemporaryDirectory folder;
  static const fuzz::CheckedCommands commands{{cli::add_trace_commands, cli::add_report_command}};
  const auto bytes = std::as_bytes(std::span{data, size});
  const auto trace = folder.write("trace", core::to_chars(bytes));
  fuzz::ChosenCommands chosen{commands};
  add_analyses(chosen, trace);
  for (const auto* name : {"chrome", "firefox", "speedscope"})
    chosen.add_in({"trace", "export", name, "-j1", trace}, "json");
  for (const auto* name : {"ecs", "timesketch"})
    chosen.add_in({"trace", "export", name, "-j1", trace}, "ndjson");
  for (const auto* name : {"collapsed", "perfetto"})
    chosen.add_in({"trace", "export", name, "-j1", trace}, "");
  chosen.add_in({"report", trace, "-o", folder.path("page.html")}, "");
  chosen.run(bytes);
  return 0;
}
