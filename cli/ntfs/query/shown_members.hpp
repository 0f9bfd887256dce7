#pragma once

#include <set>
#include <string_view>
#include <vector>

#include <rapidjson/fwd.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/snapshot_lines.hpp"

namespace coldtrace::cli {

// The members of each line that an answer shows: those of --fields, else those that csv has as
// columns and text shows, and what --zone-ids adds. JSON lines without --fields show everything.
class ShownMembers {
 public:
  ShownMembers(const std::string& format, const std::vector<std::string>& fields, bool zone_ids);

  // Collects members that the line lacks, and those of the wrong type.
  void check(const rapidjson::Value& line, std::set<std::string_view>& lacking,
             MistypedMembers& mistyped) const;

 private:
  std::vector<RowField> fields_;
  bool shows_all_ = false;
};

}  // namespace coldtrace::cli
