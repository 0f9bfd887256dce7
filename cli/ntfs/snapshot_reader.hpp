#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_header.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/snapshot-file/snapshot_names.hpp"
#include "coldtrace/ntfs/snapshot-file/snapshot_sequence.hpp"
#include "coldtrace/ntfs/snapshot-file/stated_damage.hpp"

namespace coldtrace::cli {

// Reads the snapshots of a file from one end to the other. What their first and last lines say of
// the whole is kept here; rows are the caller's.
class SnapshotReader {
 public:
  // All say whether the line can be used; one that cannot counts as damaged.
  using Begin = std::function<bool(SnapshotHeader& header, const rapidjson::Value& json)>;
  using Row = std::function<bool(std::string_view type, const rapidjson::Value& json)>;
  using End = std::function<bool(const rapidjson::Value& json)>;

  // Views of the file.
  explicit SnapshotReader(const core::ImageSource& file) : lines_{file} {}

  // Gives each volume's first line to `begin`, to `row` every "file" and "gap" behind one, and each
  // snapshot's last line to `end`. False where the first line is none of a snapshot.
  bool read_all(Int64 int64, const Begin& begin, const Row& row, const End& end = {});

  // Why there is none where read_all() says so.
  std::string why_none() const { return lines_.why_none(); }
  // Why the snapshots are not of one run; empty where they are.
  std::string refusal() const { return sequence_.refusal(); }
  // No snapshot was cut off.
  bool complete() const { return sequence_.complete(lines_.read()); }
  // And all lines could be read.
  bool whole() const { return sequence_.whole(lines_.read()); }
  // Which names are there, where the snapshots are whole.
  const ntfs::SnapshotNames& names() const { return names_; }

  // That lines are missing: `snapshot-incomplete`.
  void report_whole(core::Findings& findings) const {
    sequence_.report_whole(lines_.read(), findings);
  }
  // What damage there was when the snapshot was taken: `snapshot-findings`.
  void report_damage(core::Findings& findings) const { damage_.report(findings); }
  void report(core::Findings& findings) const {
    report_whole(findings);
    report_damage(findings);
  }

 private:
  bool read(const rapidjson::Value& json, Int64 int64, const Begin& begin, const Row& row,
            const End& end);
  void read_summary(const rapidjson::Value& json);

  SnapshotLines lines_;
  ntfs::SnapshotSequence sequence_;
  ntfs::SnapshotNames names_;
  ntfs::StatedDamage damage_;
};

// Calls `visit` with the number of the volume, counted from 0, and each row of a file that
// SnapshotReader has read.
void visit_snapshot_rows(const core::ImageSource& file,
                         const std::function<void(std::size_t, const rapidjson::Value&)>& visit);

// What snapshots leave out, as SnapshotNames has it, on standard error.
void say_left_out(const std::string& snapshot, const std::string& left_out);

}  // namespace coldtrace::cli
