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

// Reads the snapshots in a file from start to end. What their first and last lines say about the
// whole is kept here; rows go to the caller.
class SnapshotReader {
 public:
  // All return whether the line can be used; one that cannot counts as damaged.
  using Begin = std::function<bool(SnapshotHeader& header, const rapidjson::Value& json)>;
  using Row = std::function<bool(std::string_view type, const rapidjson::Value& json)>;
  using End = std::function<bool(const rapidjson::Value& json)>;

  // Both have to outlive the reader, which adds to `mistyped` names and paths whose units are of
  // another text, and says there in which line the callbacks are.
  SnapshotReader(const core::ImageSource& file, MistypedMembers& mistyped)
      : lines_{file}, mistyped_{mistyped} {}

  // Passes each volume's first line to `begin`, every "file" and "gap" after one to `row`, and each
  // snapshot's last line to `end`. False if the first line is not of a snapshot.
  bool read_all(Int64 int64, const Begin& begin, const Row& row, const End& end = {});

  // Why there is no snapshot if read_all() says so.
  std::string why_none() const { return lines_.why_none(); }
  // Why the snapshots are not of one run; empty if they are.
  std::string refusal() const { return sequence_.refusal(); }
  // Whether no snapshot was cut off.
  bool complete() const { return sequence_.complete(lines_.read()); }
  // Whether, in addition, all lines could be read.
  bool whole() const { return sequence_.whole(lines_.read()); }
  // Which names are included, if the snapshots are whole.
  const ntfs::SnapshotNames& names() const { return names_; }

  // Adds `snapshot-incomplete` if lines are missing.
  void report_whole(core::Findings& findings) const {
    sequence_.report_whole(lines_.read(), findings);
  }
  // Adds `snapshot-findings` about damage when the snapshot was taken.
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
  MistypedMembers& mistyped_;
  ntfs::SnapshotSequence sequence_;
  ntfs::SnapshotNames names_;
  ntfs::StatedDamage damage_;
};

// Calls `visit` with the index of the volume, from 0, and each row of a file that SnapshotReader
// has already read. `mistyped` is told the lines.
void visit_snapshot_rows(const core::ImageSource& file, MistypedMembers& mistyped,
                         const std::function<void(std::size_t, const rapidjson::Value&)>& visit);

// Says on standard error what snapshots leave out, as in SnapshotNames.
void say_left_out(const std::string& snapshot, const std::string& left_out);

}  // namespace coldtrace::cli
