#pragma once

#include <optional>
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
  // What lines lack, and what has another type than it should; both outlive this object.
  SummaryLines(const ntfs::ClusterMap& clusters, std::set<std::string_view>& lacking,
               MistypedMembers& mistyped)
      : clusters_{clusters}, lacking_{lacking}, mistyped_{mistyped} {}

  // False if a line does not say which name it describes, and in which state.
  bool read(const rapidjson::Value& json, ntfs::SummaryRow& row);

 private:
  bool read_name(const rapidjson::Value& json, ntfs::SummaryRow& row);
  std::optional<u64> read_record(const rapidjson::Value& json, ntfs::State state);
  void read_streams(const rapidjson::Value& json, ntfs::SummaryRow& row);

  ntfs::ClusterMap clusters_;  // without clusters if unknown
  std::set<std::string_view>& lacking_;
  MistypedMembers& mistyped_;
  std::unordered_set<u64> records_;  // those seen so far
};

}  // namespace coldtrace::cli
