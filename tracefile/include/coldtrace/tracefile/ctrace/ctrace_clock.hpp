#pragma once

#include <optional>
#include <span>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/spilled_vector.hpp"

namespace coldtrace::tracefile {

// A stamp and the UTC at which it was read, from the buffer at `offset`.
struct CalibrationPair {
  u64 cycles;
  u64 file_time;
  u64 offset;
};

// A rate of stamps: `cycles` pass in `ticks` of 100 ns.
struct CycleRate {
  u64 cycles;
  u64 ticks;
};

// Turns the stamps of one processor into UTC, piecewise between its calibration pairs, in integers.
// The rule and its error bound are in docs/formats/trace-format.md. Long traces have more pairs
// than the memory set aside for them: the pieces may lie in a temporary file.
class CtraceClock {
 private:
  // From `cycles` on; `rate` is that up to the next piece.
  struct Piece {
    u64 cycles;
    u64 file_time;
    CycleRate rate;
    bool measured;  // up to the next piece, by its pair
    u64 offset;     // of the pair
  };

 public:
  // One of `parts`, which share the memory for pieces.
  explicit CtraceClock(u64 frequency, std::size_t parts = 1);

  // One processor, with pairs in several files: the clock of one file, not yet finished, and its
  // findings, which receive what is wrong between pairs of two files.
  struct Source {
    CtraceClock* clock;
    core::Findings* findings;
  };
  // One clock with the pairs of all, finished.
  [[nodiscard]] static CtraceClock merge(std::span<const Source> sources, u64 frequency,
                                         std::size_t parts);

  // The pairs of the processor, in file order, and then their end. Without any, `first_stamp` is
  // taken as `start`.
  void add(const CalibrationPair& pair, core::Findings& findings);
  void finish(core::FileTime start, u64 first_stamp);

  struct Time {
    u64 ticks;  // FILETIME
    bool approximate;
  };
  // Where the last stamp was: makes a run of ascending stamps cheap.
  class Cursor {
   private:
    friend class CtraceClock;
    Piece piece_{};
    u64 end_ = 0;  // the stamp of the next piece; that of the piece itself: nothing is known yet
    u64 index_ = 0;
    bool is_last_ = false;
  };
  // `cursor` belongs to the stamps of one stream.
  Time to_time(u64 stamp, Cursor& cursor) const;

  // The fastest rate between two pairs, or the nominal one.
  [[nodiscard]] CycleRate fastest() const { return fastest_; }
  // The largest error between two pairs if no cycle is faster than `fastest`, without the
  // resolution of the FILETIMEs; nothing if no two pairs measure a rate.
  [[nodiscard]] std::optional<u64> error_bound(CycleRate fastest) const;
  [[nodiscard]] u64 pairs() const { return pairs_; }
  // Of the buffer with the first pair.
  [[nodiscard]] u64 first_offset() const { return first_offset_; }
  // Of those that were added and not left out.
  [[nodiscard]] std::optional<CalibrationPair> pair_at(u64 index) const;

 private:
  static constexpr std::size_t most_in_memory = 4096;
  static constexpr std::size_t least_in_memory = 64;

  void seek(u64 stamp, Cursor& cursor) const;
  bool load(u64 index, Cursor& cursor) const;

  core::SpilledVector<Piece> pieces_;  // by cycles, at least one
  CycleRate nominal_;
  CycleRate before_first_;
  CycleRate fastest_;
  std::optional<Piece> last_;  // not yet among the pieces
  Piece first_{};
  u64 pairs_ = 0;
  u64 first_offset_ = 0;
};

}  // namespace coldtrace::tracefile
