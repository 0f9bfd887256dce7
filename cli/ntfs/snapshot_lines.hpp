#pragma once

#include <string>

#include <rapidjson/fwd.h>

#include "cli/command/text_lines.hpp"
#include "coldtrace/core/findings.hpp"

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

// What the last line of a snapshot warns of: damage of the volume that its rows do not show.
class SnapshotDamage {
 public:
  void read(const rapidjson::Value& summary);
  void report(core::Findings& findings) const;

 private:
  std::string codes_;  // "torn-fixup (1), index-buffer (3)", of as many as a sentence bears
  bool more_ = false;
};

// Whether it is the line that begins a volume.
bool is_snapshot_header(const rapidjson::Value& json);

}  // namespace coldtrace::cli
