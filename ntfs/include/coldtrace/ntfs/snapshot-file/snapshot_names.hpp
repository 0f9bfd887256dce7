#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// The counts in the last line of a snapshot, whatever rows precede it.
struct SnapshotCounts {
  std::array<std::optional<u64>, state_count> names{};  // of its volumes; absent: not stated
  bool matched = false;  // the result of a query, whose rows are the names that matched
};

// Which names of their volumes are missing from the snapshots of a file: those that their last
// lines count beyond the rows. A snapshot has all names of a state or, with --state, none.
class SnapshotNames {
 public:
  // For a row that does not state its state, nothing.
  void add_row(std::optional<State> state);
  // For a row that cannot be used: its name is missing.
  void add_unusable_row() { ++unusable_; }
  // Ends a snapshot, after all its rows were added.
  void add_counts(const SnapshotCounts& counts);

  // The warning `snapshot-selection` if there are rows of a state but not all, or more than are
  // counted. `others` says what happens to the missing ones: "are not searched".
  void report(std::string_view others, core::Findings& findings) const;
  // The same for a comparison of files: the number of live names differs from the count.
  void report_compared(core::Findings& findings) const;
  // Names of a state that the volumes have and the snapshots leave out entirely.
  [[nodiscard]] u64 left_out(State state) const { return sum(state).left_out; }
  // "12 deleted, 3 stale" of all states; "15 names" if rows do not state theirs.
  [[nodiscard]] std::string left_out() const;

  // Of all snapshots that ended.
  [[nodiscard]] u64 rows(State state) const { return sum(state).rows; }
  // Absent if a last line does not count them, or there is none.
  [[nodiscard]] std::optional<u64> counted(State state) const;
  // Whether all names of a state are known to be present.
  [[nodiscard]] bool has_all(State state) const;
  // The same for all states whose names belong to files of their own.
  [[nodiscard]] bool has_all_files() const;

 private:
  // Number of rows, if the last line counts another number of them.
  struct Unlike {
    u64 rows = 0;
    u64 counted = 0;
    void add(u64 more_rows, u64 more_counted);
  };
  struct Sum {
    u64 rows = 0;
    u64 counted = 0;
    bool is_counted = true;
    u64 left_out = 0;
    Unlike fewer, more;
  };
  const Sum& sum(State state) const { return sums_[static_cast<std::size_t>(state)]; }

  std::array<u64, state_count> rows_{};  // of the snapshot that has not ended
  u64 stateless_ = 0;                    // the same
  u64 unusable_ = 0;                     // the same
  std::array<Sum, state_count> sums_{};
  bool ended_ = false;
  bool has_stateless_ = false;
  u64 unnamed_left_out_ = 0;  // whose states are unknown
};

// `snapshot-left-out`: what snapshots leave out, as left_out() gives it; nothing if it is empty.
void note_left_out(std::string_view left_out, core::Findings& findings);

}  // namespace coldtrace::ntfs
