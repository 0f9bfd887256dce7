#pragma once

#include <functional>
#include <set>
#include <string>

#include "cli/command/parsed_json.hpp"
#include "cli/command/text_lines.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/snapshot-file/snapshot_sequence.hpp"

namespace coldtrace::cli {

// The lines that 'ntfs snapshot' wrote, whoever may have changed them since.
class SnapshotLines {
 public:
  explicit SnapshotLines(const core::ImageSource& file) : lines_{file} {}

  // Passes each line to `read`, except for blank ones; as null if it is not an object, or has more
  // or deeper values than any line of a snapshot. False if there is none, or if the first is not of
  // a snapshot, as `read` says.
  bool read_all(const std::function<bool(const rapidjson::Value&)>& read);

  // Why there is no snapshot if read_all() says so.
  std::string why_none() const;

  // Where the last line starts in the file.
  u64 offset() const { return lines_.offset(); }
  // The lines read so far.
  ntfs::ReadLines read() const { return {!lines_.error(), damaged_}; }

 private:
  // Null at the end.
  const rapidjson::Value* next();

  TextLines lines_;
  std::string line_;
  ParsedJson reader_;
  u64 damaged_ = 0;
};

// Members whose values are none that 'ntfs snapshot' writes, and which count as absent.
class MistypedMembers {
 public:
  // What is added from now on is in the line that starts here.
  void set_line(u64 offset) { line_ = offset; }
  void add(std::string_view member) {
    if (members_.empty()) first_ = line_;
    if (members_.find(member) == members_.end()) members_.emplace(member);
  }
  // The member of an object if it is of the type that `is` tests; added here if it is neither that
  // nor null.
  const rapidjson::Value* find(const rapidjson::Value& object, const char* name,
                               bool (rapidjson::Value::*is)() const);
  void report(core::Findings& findings) const;

 private:
  std::set<std::string, std::less<>> members_;  // only members that a snapshot has
  u64 line_ = 0;
  u64 first_ = 0;  // the line of the first one
};

// Whether this line begins a volume.
bool is_snapshot_header(const rapidjson::Value& json);

}  // namespace coldtrace::cli
