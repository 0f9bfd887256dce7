#pragma once

#include <string>
#include <vector>

#include "schema-files/declaring_file.hpp"

namespace coldtrace::schema_files {

// Whether files have texts in a language that was asked for: that none has is the warning
// `no-match`, that only some have is the finding `schema-language`.
class LanguageCheck {
 public:
  // Of a file that has been read.
  void note(const std::string& path, const OpenFile& file);

  void report(const std::vector<std::string>& languages, core::Findings& findings) const;

 private:
  u64 files_ = 0;
  u64 lacking_ = 0;
  std::string first_;  // that lacks them, and what is read instead
};

}  // namespace coldtrace::schema_files
