#include "cli/images/file_folders.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/output/output.hpp"
#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/folder_files.hpp"

namespace coldtrace::cli {

namespace fs = std::filesystem;

void FileFolders::add(const std::string& folder, core::Findings& findings) {
  auto found = core::find_files_below(folder, most_files - files_, findings);
  if (!found) throw Failure{fmt::format("{}: {}", folder, to_message(found.error()))};
  if (found->has_more)
    findings.warning("symbol-limit", std::nullopt,
                     "{}: the folders have more than {} files; others are left out", folder,
                     most_files);
  files_ += found->files.size();
  for (auto& path : found->files)
    paths_[core::to_lower(fs::path{path}.filename().string())].push_back(std::move(path));
}

const std::vector<std::string>& FileFolders::find(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto found = paths_.find(core::to_lower(name));
  return found == paths_.end() ? none : found->second;
}

}  // namespace coldtrace::cli
