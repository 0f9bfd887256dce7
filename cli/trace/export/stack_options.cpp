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
  add_process_option(command, options.processes);
  add_kind_options(command, options.times);
  add_where_option(command, options.where);
  command
      .add_option_function<std::string>(
          "--weight", [&options](const std::string& text) { options.weight = text; },
          "Of events: the sum of this field instead of their number")
      .type_name("FIELD");
}

}  // namespace coldtrace::cli
