#include "cli/ntfs/ntfs_commands.hpp"

namespace coldtrace::cli {

void add_ntfs_commands(CLI::App& app, Exit& exit) {
  add_group(app, "ntfs", "Metadata of NTFS volumes in disk images", [&exit](CLI::App& group) {
    add_ntfs_snapshot(group, exit);
    add_ntfs_info(group, exit);
    add_ntfs_journal(group, exit);
    add_ntfs_logfile(group, exit);
    add_ntfs_locate(group, exit);
    add_ntfs_compare(group, exit);
    add_ntfs_query(group, exit);
    add_ntfs_history(group, exit);
  });
}

}  // namespace coldtrace::cli
