#pragma once

#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

// What a file declares, by its content: one, or each that a store holds. None of a file that
// declares nothing, and `why`; `is_damaged` says that it should, or should declare more.
struct FoundFiles {
  std::vector<std::shared_ptr<const DeclaringFile>> files;
  std::string why;
  bool is_damaged = false;
};

FoundFiles find_files(const std::string& path, const FileTree& tree = machine_files());

}  // namespace coldtrace::schema_files
