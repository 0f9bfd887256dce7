#include <memory>

#include "cli/command/common_options.hpp"
#include "cli/images/image_roles.hpp"
#include "cli/images/pe_input.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/lines/traced_image.hpp"
#include "cli/trace/trace_answers.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/trace_synthesis/scenarios.hpp"

namespace coldtrace::cli {
namespace {

struct TraceSynthesizeOptions : CommonOptions {
  std::string scenario;
  std::string ntdll;
  tracefile::ScenarioOptions made;
};

Exit run_trace_synthesize(const TraceSynthesizeOptions& options) {
  Report report{options.findings};
  auto made = options.made;
  if (!options.ntdll.empty()) {
    auto input = open_pe(options.ntdll, PeOptions{}, report);
    if (!input) return Exit::failure;
    const auto identity = pe::read_identity(input->image, input->findings());
    report.tell(options.ntdll, input->findings());
    require_role({options.ntdll, identity}, syscall_map::ImageRole::ntdll);
    made.ntdll = to_traced_image(identity);
  }
  Output output{options.output};
  const bool wants_trace = options.format == "ctrace";
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("synthesizing", "", 0);
  const auto answers = tracefile::synthesize(options.scenario, made, [&](core::ByteView bytes) {
    progress.add(bytes.size(), 0);
    if (wants_trace) output.write(core::to_chars(bytes));
  });
  if (!wants_trace) {
    JsonWriter json{output, options.int64};
    write_answers(json, options.scenario, made, *answers);
  }
  output.commit();
  return report.exit();
}

}  // namespace

void add_trace_synthesize(CLI::App& app, Exit& exit) {
  add_command<TraceSynthesizeOptions>(
      app, exit,
      {"synthesize",
       "Write a synthetic trace in coldtrace's own format, or with --format json what an analysis "
       "of it should find",
       "  coldtrace trace synthesize deadlock-5 -o deadlock.ctrace\n"
       "  coldtrace trace synthesize deadlock-5 --format json -o deadlock.json\n"
       "  coldtrace trace synthesize system-calls --rounds 100000 --seed 7 -o mix.ctrace\n",
       "  0  it was written\n"
       "  2  it cannot be written\n"},
      {"ctrace", "json"},
      [](Command& command, TraceSynthesizeOptions& options) {
        std::vector<std::string> names;
        std::string help = "What happens in the trace:";
        for (const auto& scenario : tracefile::scenarios()) {
          names.emplace_back(scenario.name);
          help += fmt::format("\n{}: {}", scenario.name, scenario.summary);
        }
        command.add_option("SCENARIO", options.scenario, help).required().one_of(names);
        command.add_option("--seed", options.made.seed, "Random seed").capture_default_str();
        command
            .add_option("--rounds", options.made.rounds,
                        "Iterations of the scenario's loop; 0 is as many as it needs")
            .capture_default_str();
        command.add_input("--ntdll", options.ntdll,
                          "Image that the trace names as the source of its system calls");
      },
      run_trace_synthesize);
}

}  // namespace coldtrace::cli
