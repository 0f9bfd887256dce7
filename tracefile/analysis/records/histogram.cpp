#include "coldtrace/trace_analysis/records/histogram.hpp"

#include <algorithm>
#include <bit>

#include "tracefile/analysis/records/byte_sums.hpp"

namespace coldtrace::trace_analysis {
namespace {

constexpr unsigned step_bits = 5;  // 32 steps an octave
constexpr u64 exact = u64{2} << step_bits;

}  // namespace

// A step is of the values above the greatest one of the step before: a power of two, as most sizes
// are, is the last of its octave.
u32 Histogram::step_of(u64 value) {
  if (value <= exact) return static_cast<u32>(value);
  const auto below = value - 1;
  const auto octave = static_cast<unsigned>(std::bit_width(below)) - 1 - step_bits;
  return static_cast<u32>((octave << step_bits) + (below >> octave) + 1);
}

u64 Histogram::greatest_of(u32 step) {
  if (step <= exact) return step;
  const unsigned octave = ((step - 1) >> step_bits) - 1;
  const u64 first = u64{step - 1} - (u64{octave} << step_bits);
  const u64 last = (first << octave) + ((u64{1} << octave) - 1);
  return last + (last == ~u64{0} ? 0 : 1);
}

void Histogram::add(u64 value) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  ++count_;
  add_bytes(sum_, value);
  const auto number = step_of(value);
  const auto at = std::lower_bound(steps_.begin(), steps_.end(), number,
                                   [](const Numbered& step, u32 key) { return step.number < key; });
  if (at != steps_.end() && at->number == number)
    ++at->count;
  else
    steps_.insert(at, {number, 1});
}

void Histogram::add(const Histogram& other) {
  if (other.count_ == 0) return;
  least_ = count_ == 0 ? other.least_ : std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
  count_ += other.count_;
  add_bytes(sum_, other.sum_);
  std::vector<Numbered> both;
  both.reserve(steps_.size() + other.steps_.size());
  auto own = steps_.begin();
  for (const auto& step : other.steps_) {
    while (own != steps_.end() && own->number < step.number) both.push_back(*own++);
    both.push_back(step);
    if (own != steps_.end() && own->number == step.number) both.back().count += own++->count;
  }
  both.insert(both.end(), own, steps_.end());
  steps_ = std::move(both);
}

std::vector<Histogram::Step> Histogram::steps() const {
  std::vector<Step> steps;
  for (const auto& step : steps_) steps.push_back({greatest_of(step.number), step.count});
  return steps;
}

std::optional<u64> Histogram::percentile(unsigned percent) const {
  // Counts of events: far below 2^57, so that the products do not overflow.
  u64 below = 0;
  for (const auto& step : steps_) {
    below += step.count;
    if (below * 100 >= count_ * percent)
      return std::clamp(greatest_of(step.number), least_, greatest_);
  }
  return std::nullopt;
}

}  // namespace coldtrace::trace_analysis
