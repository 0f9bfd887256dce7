#pragma once

#include <functional>
#include <set>
#include <string>

#include <rapidjson/fwd.h>

#include "cli/command/text_lines.hpp"
#include "coldtrace/core/findings.hpp"

namespace coldtrace::cli {

// The lines that 'ntfs snapshot' wrote, whoever changed them since.
class SnapshotLines {
 public:
  explicit SnapshotLines(const core::ImageSource& file) : lines_{file} {}

  // Gives each line to `read`, blank ones left out: no object where it is none, or has more values
  // or deeper ones than any of a snapshot. False where the first one is none of a snapshot, as
  // `read` says, or there is none.
  bool read_all(const std::function<bool(const rapidjson::Value&)>& read);

  // Each snapshot of the file, which may be several one behind the other, has its header and behind
  // its rows a summary that says so and counts as many volumes as there are headers.
  bool complete() const { return ended_ && !incomplete_ && !lines_.unreadable(); }
  // And all other lines could be read.
  bool whole() const { return complete() && damaged_ == 0; }
  // The warning where it is not whole.
  void report(core::Findings& findings) const;

 private:
  bool next(rapidjson::Document& json);
  void follow(const rapidjson::Value& json);

  TextLines lines_;
  std::string line_;
  u64 damaged_ = 0;
  u64 headers_ = 0;          // since the last summary
  bool ended_ = false;       // the last line that is one of a snapshot was a summary
  bool incomplete_ = false;  // a snapshot before
};

// Members whose values are of another type than 'ntfs snapshot' gives them, and count as none.
class MistypedMembers {
 public:
  void add(std::string_view member) {
    if (members_.find(member) == members_.end()) members_.emplace(member);
  }
  // The member of an object where it is what `is` asks for; added where it is neither that nor
  // null.
  const rapidjson::Value* find(const rapidjson::Value& object, const char* name,
                               bool (rapidjson::Value::*is)() const);
  void report(core::Findings& findings) const;

 private:
  std::set<std::string, std::less<>> members_;  // of those that a snapshot has
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
