#include "cli/driver/driver_commands.hpp"

namespace coldtrace::cli {

void add_driver_commands(CLI::App& app, Exit& exit) {
  add_group(app, "driver", "Configuration of drivers and tracers, from registry hives",
            [&exit](CLI::App& group) { add_driver_check(group, exit); });
}

}  // namespace coldtrace::cli
