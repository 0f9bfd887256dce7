#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_header.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "cli/ntfs/snapshot_selection.hpp"

namespace coldtrace::cli {

// Reads the snapshots of a file from one end to the other. What their first and last lines say of
// the whole is kept here; rows are the caller's.
class SnapshotReader {
 public:
  // Both say whether the line can be used; one that cannot counts as damaged.
  using Begin = std::function<bool(SnapshotHeader& header, const rapidjson::Value& json)>;
  using Row = std::function<bool(std::string_view type, const rapidjson::Value& json)>;

  // Views of the file.
  explicit SnapshotReader(const core::ImageSource& file) : lines_{file} {}

  // Gives each volume's first line to `begin`, and to `row` every "file" and "gap" behind one.
  // False where the first line is none of a snapshot.
  bool read_all(Int64 int64, const Begin& begin, const Row& row);

  // Why the snapshots are not of one run; empty where they are.
  std::string refusal() const { return run_.refusal(); }
  // All lines were read, and none is missing.
  bool whole() const { return lines_.whole(); }
  SnapshotSelection& selection() { return selection_; }

  // That lines are missing, and what damage there was when the snapshot was taken.
  void report(core::Findings& findings) const {
    lines_.report(findings);
    damage_.report(findings);
  }

 private:
  SnapshotLines lines_;
  OneRun run_;
  SnapshotSelection selection_;
  SnapshotDamage damage_;
};

// Calls `visit` with the number of the volume, counted from 0, and each row of a file that
// SnapshotReader has read.
void visit_snapshot_rows(const core::ImageSource& file,
                         const std::function<void(std::size_t, const rapidjson::Value&)>& visit);

}  // namespace coldtrace::cli
