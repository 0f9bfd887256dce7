#pragma once

#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

// The declaring files that a file's content is: itself, or each that a store holds. None, and
// `why`, for a file that declares nothing; `is_damaged` means that it should, or should declare
// more.
struct FoundFiles {
  std::vector<std::shared_ptr<const DeclaringFile>> files;
  std::string why;
  bool is_damaged = false;
};

FoundFiles find_files(const std::string& path, const FileTree& tree = machine_files());

}  // namespace coldtrace::schema_files
