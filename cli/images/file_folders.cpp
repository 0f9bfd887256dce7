#include "cli/images/file_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "coldtrace/pe/dll_name.hpp"

namespace coldtrace::cli {

namespace fs = std::filesystem;

void FileFolders::add(const std::string& folder, core::Findings& findings) {
  std::error_code error;
  fs::recursive_directory_iterator entry{folder, fs::directory_options::skip_permission_denied,
                                         error};
  std::vector<std::string> paths;
  for (; !error && entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    if (files_ == most_files) {
      findings.warning("symbol-limit", std::nullopt,
                       "{}: the folders have more than {} files; others are left out", folder,
                       most_files);
      break;
    }
    ++files_;
    paths.push_back(entry->path().string());
  }
  if (error) throw Failure{fmt::format("{}: {}", folder, error.message())};
  std::sort(paths.begin(), paths.end());
  for (auto& path : paths)
    paths_[pe::to_lower(fs::path{path}.filename().string())].push_back(std::move(path));
}

const std::vector<std::string>& FileFolders::find(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto found = paths_.find(pe::to_lower(name));
  return found == paths_.end() ? none : found->second;
}

}  // namespace coldtrace::cli
