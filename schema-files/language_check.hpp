#pragma once

#include <string>
#include <vector>

#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

// Checks whether files have texts in a requested language: if none has, the warning is `no-match`;
// if only some have, the finding is `schema-language`.
class LanguageCheck {
 public:
  // Takes note of a file that has been read.
  void note(const std::string& path, const OpenFile& file);

  void report(const std::vector<std::string>& languages, core::Findings& findings) const;

 private:
  u64 files_ = 0;
  u64 lacking_ = 0;
  std::string first_;  // the first without them, and what is read instead
};

}  // namespace coldtrace::schema_files
