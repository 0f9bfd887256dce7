#include "cli/trace/trace_commands.hpp"

namespace coldtrace::cli {

void add_trace_schemas(CLI::App& app, Exit& exit) {
  add_group(app, "schemas", "Schemas of manifest events, from DLLs and manifests",
            [&exit](CLI::App& group) {
              add_trace_schemas_build(group, exit);
              add_trace_schemas_check(group, exit);
              add_trace_schemas_list(group, exit);
              add_trace_schemas_show(group, exit);
            });
}

}  // namespace coldtrace::cli
