#include "coldtrace/core/folder_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace coldtrace::core {

namespace fs = std::filesystem;

Result<FolderFiles> find_files_below(const std::string& folder, std::size_t most,
                                     Findings& findings) {
  FolderFiles found;
  std::vector<fs::path> folders{folder};
  while (!folders.empty() && !found.has_more) {
    const auto current = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator entry{current, error};
    for (; !error && entry != fs::directory_iterator{}; entry.increment(error)) {
      std::error_code unknown;
      if (entry->is_directory(unknown) && !entry->is_symlink(unknown)) {
        folders.push_back(entry->path());
      } else if (entry->is_regular_file(unknown)) {
        if (found.files.size() == most) {
          found.has_more = true;
          break;
        }
        found.files.push_back(entry->path().string());
      } else if (unknown && unknown != std::errc::no_such_file_or_directory) {
        findings.warning("folder-unreadable", std::nullopt, "{}: cannot be read: {}",
                         entry->path().string(), unknown.message());
      }
    }
    if (error && current == folder)
      return fail({Fault::io, 0, "folder", "entries", 0, static_cast<u64>(error.value())});
    if (error)
      findings.warning("folder-unreadable", std::nullopt, "{}: cannot be listed: {}",
                       current.string(), error.message());
  }
  std::sort(found.files.begin(), found.files.end());
  return found;
}

}  // namespace coldtrace::core
