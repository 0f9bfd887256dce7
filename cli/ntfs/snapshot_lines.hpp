#pragma once

#include <functional>
#include <set>
#include <string>

#include <rapidjson/fwd.h>

#include "cli/command/text_lines.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/snapshot-file/snapshot_sequence.hpp"

namespace coldtrace::cli {

// The lines that 'ntfs snapshot' wrote, whoever changed them since.
class SnapshotLines {
 public:
  explicit SnapshotLines(const core::ImageSource& file) : lines_{file} {}

  // Gives each line to `read`, blank ones left out: no object where it is none, or has more values
  // or deeper ones than any of a snapshot. False where the first one is none of a snapshot, as
  // `read` says, or there is none.
  bool read_all(const std::function<bool(const rapidjson::Value&)>& read);

  // Why there is no snapshot where read_all() says so.
  std::string why_none() const;

  // So far.
  ntfs::ReadLines read() const { return {!lines_.error(), damaged_}; }

 private:
  bool next(rapidjson::Document& json);

  TextLines lines_;
  std::string line_;
  u64 damaged_ = 0;
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

// Whether it is the line that begins a volume.
bool is_snapshot_header(const rapidjson::Value& json);

}  // namespace coldtrace::cli
