#include "tracefile/synthesis/inversion_watch.hpp"

namespace coldtrace::tracefile::synthesis {

std::vector<const Thread*> InversionWatch::find_middles(const Thread& high,
                                                        const Thread& low) const {
  std::vector<const Thread*> middles;
  for (const auto& processor : processors_) {
    const auto& current = *processor.current;
    if (current.is_idle() || current.priority < low.priority) return {};
    if (current.priority > low.priority && current.priority < high.priority)
      middles.push_back(&current);
  }
  return middles;
}

PriorityInversion& InversionWatch::inversion(const Thread& high, const Thread& low, u64 object,
                                             u64 now) {
  for (auto& one : found_)
    if (one.high == &high && one.low == &low && one.object == object &&
        one.begun == high.wait.begun)
      return one;
  return found_.emplace_back(
      PriorityInversion{&high, &low, object, high.wait.begun, now, now, 0, {}});
}

void InversionWatch::look(u64 now) {
  const u64 passed = now - std::exchange(last_, now);
  for (const auto& [index, middles] : now_) {
    auto& one = found_[index];
    one.to = now;
    one.time += passed;
    for (const auto* middle : middles) one.middles[middle] += passed;
  }
  now_.clear();
  for (const auto* mutant : mutants_) {
    const auto* const low = mutant->owner();
    if (low == nullptr || (low->state != ThreadState::ready && low->state != ThreadState::standby))
      continue;
    for (const auto* high : mutant->waiters) {
      if (high->wait.objects.size() != 1) continue;
      auto middles = find_middles(*high, *low);
      if (middles.empty()) continue;
      auto& one = inversion(*high, *low, mutant->address(), now);
      now_.push_back({static_cast<std::size_t>(&one - found_.data()), std::move(middles)});
    }
  }
}

}  // namespace coldtrace::tracefile::synthesis
