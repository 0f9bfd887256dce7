#include "cli/trace/export/stack_options.hpp"

namespace coldtrace::cli {

void add_stack_options(Command& command, StackOptions& options) {
  add_analysis_options(command, options);
  add_symbol_options(command, options.symbols);
  command
      .add_option(
          "--of", options.stacks,
          "Of samples, of threads off the processor by what kept them, of requests to disks, "
          "or of the events that are chosen")
      .one_of({"running", "waiting", "disk", "events"})
      .capture_default_str();
  command.add_option("--process", options.process, "Only of this process: an id, a name or a glob")
      .type_name("PROCESS");
  command
      .add_option("--provider", options.times.providers,
                  "Events of these providers, by GUID, name or glob")
      .list("PROVIDER");
  command
      .add_option("--event", options.times.events,
                  "These events, by id, name, class or glob: 21, Process/Start, Process, *Io*")
      .list("EVENT");
  command
      .add_option_function<std::string>(
          "--where", [&options](const std::string& text) { options.where = text; },
          "Events that an expression is true of, as \"Status != 0 and time < 5s\"")
      .type_name("EXPR");
  command
      .add_option_function<std::string>(
          "--weight", [&options](const std::string& text) { options.weight = text; },
          "Of events: the sum of this field instead of their number")
      .type_name("FIELD");
}

}  // namespace coldtrace::cli
