#pragma once

#include <string>

#include <rapidjson/fwd.h>

#include "cli/command/text_lines.hpp"

namespace coldtrace::cli {

// The lines that 'ntfs snapshot' wrote, whoever changed them since.
class SnapshotLines {
 public:
  explicit SnapshotLines(const core::ImageSource& file) : lines_{file} {}

  // The next line, blank ones left out: no object where it is none, or has more values or deeper
  // ones than any of a snapshot. False at the end.
  bool next(rapidjson::Document& json);

  u64 count() const { return count_; }
  // There was a summary, which is the last line.
  bool complete() const { return complete_ && !lines_.unreadable(); }

 private:
  TextLines lines_;
  std::string line_;
  u64 count_ = 0;
  bool complete_ = false;
};

// Whether it is the line that begins a volume.
bool is_snapshot_header(const rapidjson::Value& json);

}  // namespace coldtrace::cli
