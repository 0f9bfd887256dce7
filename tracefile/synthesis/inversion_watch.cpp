#include "tracefile/synthesis/inversion_watch.hpp"

#include <algorithm>
#include <utility>

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

// Whom a thread that waits for the mutant waits for in the end, if that one can run.
std::optional<InversionWatch::Chain> InversionWatch::follow(const Thread& high,
                                                            const DispatcherObject& mutant) {
  Chain chain{{}, mutant.owner()};
  while (chain.low != nullptr && chain.low->state == ThreadState::waiting) {
    const auto& objects = chain.low->wait.objects;
    const bool leads_back = chain.low == &high || std::ranges::count(chain.between, chain.low) > 0;
    if (leads_back || objects.size() != 1 || objects[0]->type() != ObjectType::mutant)
      return std::nullopt;
    chain.between.push_back(chain.low);
    chain.low = objects[0]->owner();
  }
  const bool can_run = chain.low != nullptr && (chain.low->state == ThreadState::ready ||
                                                chain.low->state == ThreadState::standby);
  return can_run ? std::optional{std::move(chain)} : std::nullopt;
}

PriorityInversion& InversionWatch::inversion(const Thread& high, Chain chain, u64 object, u64 now) {
  for (auto& one : found_)
    if (one.high == &high && one.low == chain.low && one.object == object &&
        one.begun == high.wait.begun)
      return one;
  return found_.emplace_back(PriorityInversion{
      &high, chain.low, std::move(chain.between), object, high.wait.begun, now, now, 0, {}});
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
    for (const auto* high : mutant->waiters) {
      if (high->wait.objects.size() != 1) continue;
      auto chain = follow(*high, *mutant);
      if (!chain) continue;
      auto middles = find_middles(*high, *chain->low);
      if (middles.empty()) continue;
      auto& one = inversion(*high, std::move(*chain), mutant->address(), now);
      now_.push_back({static_cast<std::size_t>(&one - found_.data()), std::move(middles)});
    }
  }
}

}  // namespace coldtrace::tracefile::synthesis
