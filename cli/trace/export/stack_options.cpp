#include "cli/trace/export/stack_options.hpp"

namespace coldtrace::cli {

void add_stack_options(Command& command, StackOptions& options) {
  add_analysis_options(command, options);
  add_symbol_options(command, options.symbols);
  command
      .add_option("--of", options.stacks,
                  "Stacks of samples, of threads off the processor with the reason, of disk "
                  "requests, or of the chosen events")
      .one_of({"running", "waiting", "disk", "events"})
      .capture_default_str();
  add_process_option(command, options.processes);
  add_kind_options(command, options.times);
  add_where_option(command, options.where);
  command
      .add_option_function<std::string>(
          "--weight", [&options](const std::string& text) { options.weight = text; },
          "With --of events: sum this field instead of counting events")
      .type_name("FIELD");
}

}  // namespace coldtrace::cli
