#include "cli/command/common_options.hpp"
#include "cli/images/module_check.hpp"
#include "cli/pe/pe_commands.hpp"

namespace coldtrace::cli {

void add_pe_compare(CLI::App& app, Exit& exit) {
  add_command<ModuleCheckOptions>(
      app, exit,
      {"compare", "Compare a module dumped from memory with its file: what is patched or hooked",
       "  coldtrace pe compare ntdll.dll ntdll.dump\n"
       "  coldtrace pe compare kernel32.dll kernel32.dump --other-dump ntdll.dump\n"
       "  coldtrace pe compare ntdll.dll ntdll.dump --known-module hook.dll=0x180000000:0x20000\n",
       "  0  nothing differs except what the system itself writes\n"
       "  1  code, constants, imports or service tables were changed, or the dump is\n"
       "     damaged or cut off\n"
       "  2  an input could not be read, or the dump is not of this file\n"},
      {"text", "json"},
      [](Command& command, ModuleCheckOptions& options) {
        command.add_input("FILE", options.file, "The PE image on disk").required();
        command.add_input("DUMP", options.dump, "The module, dumped from memory").required();
        add_module_check_options(command, options);
      },
      [](const ModuleCheckOptions& options) { return run_module_check(options, false); });
}

}  // namespace coldtrace::cli
