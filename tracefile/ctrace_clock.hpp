#pragma once

#include <vector>

#include "core/file_time.hpp"
#include "core/findings.hpp"

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
// docs/trace-format.md has the rule and its error bound.
class CtraceClock {
 public:
  // `pairs` come in the order of the file. Without any, `first_stamp` is taken as `start`.
  CtraceClock(const std::vector<CalibrationPair>& pairs, u64 frequency, core::FileTime start,
              u64 first_stamp, core::Findings& findings);

  struct Time {
    u64 ticks;  // FILETIME
    bool approximate;
  };
  // `hint` makes a run of ascending stamps cheap: the same variable each time, 0 at first.
  Time to_time(u64 stamp, std::size_t& hint) const;

  // The fastest rate between two pairs, or the nominal one.
  CycleRate fastest() const { return fastest_; }
  // The largest error between two pairs when no cycle is faster than `fastest`, without the
  // resolution of the FILETIMEs.
  u64 error_bound(CycleRate fastest) const;
  std::size_t pairs() const { return pairs_; }

 private:
  // From `cycles` on; `rate` is that up to the next piece.
  struct Piece {
    u64 cycles;
    u64 file_time;
    CycleRate rate;
    bool measured;  // up to the next piece, by its pair
  };

  std::vector<Piece> pieces_;  // by cycles, at least one
  CycleRate before_first_;
  CycleRate fastest_;
  std::size_t pairs_ = 0;
};

}  // namespace coldtrace::tracefile
