#pragma once

#include <string>
#include <string_view>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// A folder of files that is written atomically: it gets its name at the end, and must not exist
// before. All functions throw Failure.
class OutputFolder {
 public:
  explicit OutputFolder(const OutputOptions& options);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  // Without commit() nothing is left behind.
  ~OutputFolder();

  // Appends to a file in the folder, and creates it if needed. Files are not kept open.
  void append(std::string_view file, std::string_view bytes);
  void commit();

  // Where the files are until commit().
  const std::string& place() const { return temporary_; }

 private:
  [[noreturn]] void fail(int code) const;

  std::string path_;
  std::string temporary_;  // beside it
};

}  // namespace coldtrace::cli
