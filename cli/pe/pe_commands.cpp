#include "cli/pe/pe_commands.hpp"

namespace coldtrace::cli {

void add_pe_commands(CLI::App& app, Exit& exit) {
  add_group(app, "pe", "Headers and tables of PE images, and their symbols",
            [&exit](CLI::App& group) {
              add_pe_info(group, exit);
              add_pe_exports(group, exit);
              add_pe_imports(group, exit);
              add_pe_sections(group, exit);
              add_pe_compare(group, exit);
              add_pe_symbols(group, exit);
              add_pe_types(group, exit);
              add_pe_isf(group, exit);
            });
}

}  // namespace coldtrace::cli
