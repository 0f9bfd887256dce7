#pragma once

#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/result.hpp"

namespace coldtrace::core {

// The paths of the regular files in a folder and in all below it, ascending.
struct FolderFiles {
  std::vector<std::string> files;
  bool has_more = false;  // than were asked for
};

// Up to `most` files. Links to folders are not followed, those to files are. A folder below that
// cannot be listed, and an entry of which nothing can be told, are the warning `folder-unreadable`;
// that `folder` itself cannot be listed is the error. Links to nowhere are passed over.
Result<FolderFiles> find_files_below(const std::string& folder, std::size_t most,
                                     Findings& findings);

}  // namespace coldtrace::core
