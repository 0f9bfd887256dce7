#pragma once

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::cli {

// The values in a name's line of a snapshot, whoever wrote it: a value of the wrong type counts as
// absent, and is added to `mistyped`.
class LineValues final : public ntfs::FileValues {
 public:
  explicit LineValues(MistypedMembers& mistyped) : mistyped_{mistyped} {}

  // The volume of the lines from now on.
  void set_volume(std::optional<u64> number, std::optional<u64> offset, std::optional<u64> shadow) {
    number_ = number;
    offset_ = offset;
    shadow_ = shadow;
  }
  // Reads from this line from now on; it has to live as long.
  void set(const rapidjson::Value& line) { line_ = &line; }

  void each(ntfs::FileMember member, const See& see) override;

 private:
  MistypedMembers& mistyped_;
  const rapidjson::Value* line_ = nullptr;
  std::optional<u64> number_;
  std::optional<u64> offset_;
  std::optional<u64> shadow_;
};

// Whether the line has the member, even if null, that contains an expression's member.
bool has_member(const rapidjson::Value& line, ntfs::FileMember member);

}  // namespace coldtrace::cli
