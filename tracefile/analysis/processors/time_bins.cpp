#include "coldtrace/trace_analysis/processors/time_bins.hpp"

#include <algorithm>
#include <utility>

namespace coldtrace::trace_analysis {
namespace {

// More would not fit into the numbers of ticks.
constexpr i64 widest = i64{1} << 61U;

}  // namespace

void TimeBins::add(i64 from, i64 to) {
  if (from < start_) from = start_;
  const i64 end = ticks_between(start_, to);
  i64 at = ticks_between(start_, from);
  if (at >= end) return;
  while ((end - 1) / width_ >= static_cast<i64>(most_bins) && width_ < widest) join();
  add_ticks(total_, end - at);
  const auto last = static_cast<std::size_t>((end - 1) / width_);
  if (last >= bins_.size()) bins_.resize(last + 1);
  while (at < end) {
    const auto bin = at / width_;
    const auto next = at + std::min(end - at, width_ - at % width_);
    add_ticks(bins_[static_cast<std::size_t>(bin)], next - at);
    at = next;
  }
}

void TimeBins::widen(i64 width) {
  while (width_ < width && width_ < widest) join();
}

void TimeBins::join() {
  width_ *= 2;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const auto sum = std::exchange(bins_[i], 0);
    add_ticks(bins_[i / 2], sum);
  }
  bins_.resize((bins_.size() + 1) / 2);
}

}  // namespace coldtrace::trace_analysis
