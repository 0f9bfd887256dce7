#pragma once

#include <set>
#include <string>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/comparison/compared_file.hpp"

namespace coldtrace::cli {

// Which members that a comparison needs are missing in a line of a snapshot.
struct LackingMembers {
  bool times = false;
  bool attributes = false;
  bool streams = false;
  std::string needed;  // those that identify the file of a row: " path name"
  std::set<std::string> others;
  bool any() const { return times || attributes || streams || !others.empty(); }
};

// What a "file" line says of a name. False if it does not say whose name it is, or in which
// directory. Members of the wrong type are added to `mistyped`.
bool read_compared_file(const rapidjson::Value& json, ntfs::ComparedFile& file,
                        LackingMembers& lacking, MistypedMembers& mistyped);

}  // namespace coldtrace::cli
