#pragma once

#include <set>
#include <string_view>
#include <unordered_set>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/summary/summary_row.hpp"

namespace coldtrace::cli {

// Reads the "file" lines of one volume of a snapshot.
class SummaryLines {
 public:
  // What lines lack, and what is of another type than it should be; both outlive this.
  SummaryLines(u32 cluster_size, std::set<std::string_view>& lacking, MistypedMembers& mistyped)
      : cluster_size_{cluster_size}, lacking_{lacking}, mistyped_{mistyped} {}

  // False where a line does not say which name it is of, and in which state.
  bool read(const rapidjson::Value& json, ntfs::SummaryRow& row);

 private:
  bool read_name(const rapidjson::Value& json, ntfs::SummaryRow& row);
  void read_streams(const rapidjson::Value& json, ntfs::SummaryRow& row);

  u32 cluster_size_;
  std::set<std::string_view>& lacking_;
  MistypedMembers& mistyped_;
  std::unordered_set<u64> records_;  // that were met
};

}  // namespace coldtrace::cli
