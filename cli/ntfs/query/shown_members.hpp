#pragma once

#include <set>
#include <string_view>
#include <vector>

#include <rapidjson/fwd.h>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "cli/ntfs/snapshot_lines.hpp"

namespace coldtrace::cli {

// The members that an answer shows of each line: those of --fields, else what csv has columns of
// and text shows, and what --zone-ids adds. Lines of JSON without --fields show all there is.
class ShownMembers {
 public:
  ShownMembers(const std::string& format, const std::vector<std::string>& fields, bool zone_ids);

  // Adds members that the line lacks, and those whose values are of another type.
  void check(const rapidjson::Value& line, std::set<std::string_view>& lacking,
             MistypedMembers& mistyped) const;

 private:
  std::vector<RowField> fields_;
  bool shows_all_ = false;
};

}  // namespace coldtrace::cli
