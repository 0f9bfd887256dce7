#pragma once

#include <map>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

// The files of folders and of all folders below them, by name, ignoring case.
class FileFolders {
 public:
  // Throws Failure if the folder cannot be listed. Files beyond `most_files` are left out with a
  // finding.
  void add(const std::string& folder, core::Findings& findings);

  // The paths of files with this name, sorted within each added folder.
  const std::vector<std::string>& find(std::string_view name) const;

 private:
  static constexpr std::size_t most_files = std::size_t{1} << 20U;

  std::map<std::string, std::vector<std::string>> paths_;  // by name, in lower case
  std::size_t files_ = 0;
};

}  // namespace coldtrace::cli
