#include "cli/syscalls/syscalls_commands.hpp"

namespace coldtrace::cli {

void add_syscalls_commands(CLI::App& app, Exit& exit) {
  add_group(app, "syscalls", "System call numbers of ntdll, win32u and kernel images",
            [&exit](CLI::App& group) {
              add_syscalls_map(group, exit);
              add_syscalls_compare(group, exit);
              add_syscalls_check(group, exit);
              add_syscalls_hash(group, exit);
            });
}

}  // namespace coldtrace::cli
