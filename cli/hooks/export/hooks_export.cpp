#include "cli/hooks/export/hook_export_options.hpp"
#include "cli/hooks/hooks_commands.hpp"

namespace coldtrace::cli {

void add_hooks_export(CLI::App& app, Exit& exit) {
  add_group(app, "export", "Hook tables in the formats of other projects, unsigned",
            [&exit](CLI::App& group) {
              add_hooks_export_c_header(group, exit);
              add_hooks_export_edrsandblast(group, exit);
              add_hooks_export_isf(group, exit);
              add_hooks_export_j00ru(group, exit);
              add_hooks_export_kphdyn(group, exit);
            });
}

}  // namespace coldtrace::cli
