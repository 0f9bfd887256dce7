#include "coldtrace/trace_analysis/processors/slice_lanes.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {
namespace {

constexpr i64 coarsest = i64{1} << 61U;

}  // namespace

void SliceLanes::push(u16 cpu, const Slice& slice) {
  lanes_[cpu].push_back(slice);
  ++slices_;
}

// The grid doubles until enough neighbours share a step of it.
void SliceLanes::coarsen(std::size_t most_slices) {
  while (slices_ > most_slices && grid_ < coarsest) {
    grid_ = grid_ == 0 ? 1 : grid_ * 2;
    slices_ = 0;
    for (auto& lane : lanes_) {
      join(lane);
      slices_ += lane.size();
    }
  }
}

void SliceLanes::join(std::vector<Slice>& lane) const {
  const auto step_of = [&](i64 time) { return ticks_between(first_, time) / grid_; };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const auto slice = lane[i];
    auto* const before = kept == 0 ? nullptr : &lane[kept - 1];
    // What is not known stays apart.
    const bool joins = before != nullptr && before->thread != nobody && slice.thread != nobody &&
                       step_of(before->begin) == step_of(slice.end);
    if (!joins) {
      lane[kept++] = slice;
      continue;
    }
    before->end = slice.end;
    add_ticks(before->busy, slice.busy);
    before->turns += std::min(slice.turns, 0xffff'ffff - before->turns);
    before->details = no_details;
    if (slice.longest > before->longest) {
      before->longest = slice.longest;
      before->thread = slice.thread;
    }
  }
  lane.resize(kept);
}

}  // namespace coldtrace::trace_analysis
