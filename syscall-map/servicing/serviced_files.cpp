#include "coldtrace/syscall-map/servicing/serviced_files.hpp"

#include <algorithm>

#include "coldtrace/core/folder_files.hpp"

namespace coldtrace::syscall_map {

ServicedFiles list_serviced_files(const std::string& folder, std::size_t most) {
  using Kind = core::FolderEntry::Kind;
  ServicedFiles listed;
  core::walk_folder(folder, [&](const core::FolderEntry& entry) {
    switch (entry.kind) {
      case Kind::linked_folder:
        listed.findings.info("servicing-links", std::nullopt,
                             "{}: a link to a folder, which is not followed", entry.path);
        break;
      case Kind::file:
        if (listed.files.size() == most) {
          listed.findings.warning("servicing-limit", std::nullopt,
                                  "{} has more than {} files; others are left out", folder, most);
          return false;
        }
        listed.files.push_back(entry.path);
        break;
      case Kind::other:
        ++listed.other_files;
        break;
      case Kind::unlisted:
      case Kind::unknown:
        listed.unreadable.push_back({entry.path, entry.error});
    }
    return true;
  });
  std::sort(listed.files.begin(), listed.files.end());
  return listed;
}

}  // namespace coldtrace::syscall_map
