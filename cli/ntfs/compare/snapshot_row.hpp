#pragma once

#include <set>
#include <string>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/comparison/compared_file.hpp"

namespace coldtrace::cli {

// Which members a line of a snapshot lacks that a comparison looks at.
struct LackingMembers {
  bool times = false;
  bool attributes = false;
  bool streams = false;
  std::string needed;  // without which it is not known which file a row is of: " path name"
  std::set<std::string> others;
  bool any() const { return times || attributes || streams || !others.empty(); }
};

// What a "file" line says of a name. False where it does not say which file's name it is, or in
// which directory. What is not known of it because of its type is told to `mistyped`.
bool read_compared_file(const rapidjson::Value& json, ntfs::ComparedFile& file,
                        LackingMembers& lacking, MistypedMembers& mistyped);

}  // namespace coldtrace::cli
