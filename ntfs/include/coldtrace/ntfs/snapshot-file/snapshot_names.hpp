#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// What the last line of a snapshot counts, whatever rows are in front of it.
struct SnapshotCounts {
  std::array<std::optional<u64>, state_count> names{};  // of its volumes; absent: not said
  bool matched = false;  // a query's answer, whose rows are the names that matched
};

// Which names of their volumes the snapshots of a file lack: those that their last lines count
// beyond the rows. A snapshot has all names of a state or, by its --state, none.
class SnapshotNames {
 public:
  // Of a row that does not say its state, nothing.
  void add_row(std::optional<State> state);
  // Of a row that cannot be used: its name is missing.
  void add_unusable_row() { ++unusable_; }
  // Ends a snapshot, all rows of which were added.
  void add_counts(const SnapshotCounts& counts);

  // The warning `snapshot-selection` where there are rows of a state and not all, or more than are
  // counted. `others` says what becomes of those that are not there: "are not searched".
  void report(std::string_view others, core::Findings& findings) const;
  // The same for a comparison of files: that live names are not as many as are counted.
  void report_compared(core::Findings& findings) const;
  // Names of a state that the volumes have and the snapshots leave out altogether.
  [[nodiscard]] u64 left_out(State state) const { return sum(state).left_out; }
  // "12 deleted, 3 stale" of all states; "15 names" where rows do not say theirs.
  [[nodiscard]] std::string left_out() const;

  // Of all snapshots that ended.
  [[nodiscard]] u64 rows(State state) const { return sum(state).rows; }
  // Absent where a last line does not count them, or there is none.
  [[nodiscard]] std::optional<u64> counted(State state) const;
  // Whether it is known that there are all names of a state.
  [[nodiscard]] bool has_all(State state) const;
  // The same of all states whose names are of files of their own.
  [[nodiscard]] bool has_all_files() const;

 private:
  // Rows, where the last line counts another number of them.
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
  u64 unnamed_left_out_ = 0;  // of which the states are not known
};

// `snapshot-left-out`: what snapshots leave out, as left_out() has it; nothing where it is empty.
void note_left_out(std::string_view left_out, core::Findings& findings);

}  // namespace coldtrace::ntfs
