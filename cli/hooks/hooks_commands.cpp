#include "cli/hooks/hooks_commands.hpp"

namespace coldtrace::cli {

void add_hooks_commands(CLI::App& app, Exit& exit) {
  add_group(app, "hooks", "Find where a driver could hook a kernel, with evidence",
            [&exit](CLI::App& group) {
              add_hooks_context_switch(group, exit);
              add_hooks_derive(group, exit);
              add_hooks_export(group, exit);
              add_hooks_iat(group, exit);
              add_hooks_locate(group, exit);
              add_hooks_merge(group, exit);
              add_hooks_plan(group, exit);
              add_hooks_profile(group, exit);
              add_hooks_show(group, exit);
              add_hooks_table(group, exit);
              add_hooks_tables(group, exit);
              add_hooks_verify(group, exit);
            });
}

}  // namespace coldtrace::cli
