#pragma once

#include <vector>

#include "coldtrace/trace_analysis/records/population.hpp"

namespace coldtrace::trace_analysis {

// Slices of time of several processors, each in order of time, for drawing. If there are more than
// wanted, short neighbours become one slice, as long as the steps of a grid that is as coarse as
// necessary: a drawing of the whole looks the same, and no time is lost.
class SliceLanes {
 public:
  struct Slice {
    i64 begin, end;            // ticks
    i64 busy;                  // of these, those in which a thread ran
    u32 turns;                 // more than one: several, of which `thread` had the longest
    i64 longest;               // ticks of the longest one
    Index thread;              // nobody: not known what ran
    u32 details = no_details;  // a number for the user of this class
  };
  static constexpr u32 no_details = 0xffff'ffff;

  // Where the grid begins.
  void begin(i64 first) { first_ = first; }
  void push(u16 cpu, const Slice& slice);
  void resize(std::size_t processors) { lanes_.resize(processors); }

  // Joins slices until there are at most that many, or no more can be joined.
  void coarsen(std::size_t most_slices);

  [[nodiscard]] const std::vector<std::vector<Slice>>& all() const { return lanes_; }
  [[nodiscard]] std::size_t slices() const { return slices_; }
  // Ticks of the grid; 0: nothing was joined.
  [[nodiscard]] i64 grid() const { return grid_; }

 private:
  void join(std::vector<Slice>& lane) const;

  std::vector<std::vector<Slice>> lanes_;
  std::size_t slices_ = 0;
  i64 first_ = 0;
  i64 grid_ = 0;
};

}  // namespace coldtrace::trace_analysis
