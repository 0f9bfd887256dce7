#pragma once

#include <string>
#include <string_view>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// A folder of files that is written atomically: it gets its name at the end, and must not exist
// before. All throw Failure.
class OutputFolder {
 public:
  explicit OutputFolder(const OutputOptions& options);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  // Without commit() nothing is left behind.
  ~OutputFolder();

  // To the end of a file of the folder, which is made by that. Files are not kept open.
  void append(std::string_view file, std::string_view bytes);
  void commit();

  // Where the files are until then.
  const std::string& place() const { return temporary_; }

 private:
  [[noreturn]] void fail(int code) const;

  std::string path_;
  std::string temporary_;  // beside it
};

}  // namespace coldtrace::cli
