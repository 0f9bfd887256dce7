#pragma once

#include <optional>
#include <string>

#include "coldtrace/core/image_source.hpp"

namespace coldtrace::cli {

constexpr std::size_t longest_text_line = std::size_t{16} << 20;

// The lines of a text file of any size, one by one.
class TextLines {
 public:
  explicit TextLines(const core::ImageSource& file) : file_{file} {}

  // False at the end, or after the last line that can be read.
  bool next(std::string& line);

  // Where the line starts in the file.
  u64 offset() const { return start_; }
  // Whether the line was longer than the limit; it is then empty.
  bool too_long() const { return too_long_; }
  // Why the file was not read to the end, if it was not.
  const std::optional<core::ParseError>& error() const { return error_; }

 private:
  bool fill();

  const core::ImageSource& file_;
  u64 offset_ = 0;
  u64 start_ = 0;
  u64 end_ = 0;  // behind the line
  std::string chunk_;
  std::size_t at_ = 0;
  bool too_long_ = false;
  std::optional<core::ParseError> error_;
};

}  // namespace coldtrace::cli
