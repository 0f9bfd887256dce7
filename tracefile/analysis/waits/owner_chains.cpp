#include "coldtrace/trace_analysis/waits/owner_chains.hpp"

#include <algorithm>

namespace coldtrace::trace_analysis {

// These first.
std::vector<Index> OwnerChains::with_those_behind(std::vector<Index> threads) const {
  std::set<Index> known{threads.begin(), threads.end()};
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const auto place = behind_.find(threads[i]);
    if (place == behind_.end()) continue;
    for (const auto waiter : place->second)
      if (known.insert(waiter).second) threads.push_back(waiter);
  }
  return threads;
}

// How many wait for the same one in the end, with that one.
std::size_t OwnerChains::together(Index thread) const {
  for (std::size_t i = 0; i < most_together; ++i) {
    const auto wait = waits_.find(thread);
    if (wait == waits_.end() || wait->second.owner == nobody) break;
    thread = wait->second.owner;
  }
  return with_those_behind({thread}).size();
}

void OwnerChains::leave(Index thread, Index owner) {
  const auto place = behind_.find(owner);
  if (place == behind_.end()) return;
  place->second.erase(thread);
  if (place->second.empty()) behind_.erase(place);
}

void OwnerChains::tell(Index thread, i64 time) {
  const auto& wait = waits_.at(thread);
  Chain chain{{}, wait.owner, wait.owned_since, 0, {wait.fate}};
  chain.known_since = std::min(wait.since.time, wait.owned_since.time);
  for (auto next = waits_.find(chain.low); next != waits_.end(); next = waits_.find(chain.low)) {
    const auto& other = next->second;
    if (chain.low == thread || chain.between.size() == most_between) return;
    chain.between.push_back({chain.low, chain.owned_since, other.object, other.since});
    chain.fates.push_back(other.fate);
    chain.known_since = std::min({chain.known_since, other.since.time, other.owned_since.time});
    chain.low = other.owner;
    chain.owned_since = other.owned_since;
  }
  if (chain.low != nobody && chain.low != thread) begins_(thread, time, wait, chain);
}

void OwnerChains::begin(Index thread, i64 time, const Wait& wait) {
  if (together(wait.owner) + with_those_behind({thread}).size() > most_together) {
    ++left_out_;
    return;
  }
  behind_[wait.owner].insert(thread);
  waits_.emplace(thread, wait);
  for (const auto one : with_those_behind({thread})) {
    if (one != thread) ends_(one, time);
    tell(one, time);
  }
}

void OwnerChains::end(Index thread, i64 time, bool seen) {
  const auto place = waits_.find(thread);
  if (place == waits_.end()) return;
  *place->second.fate = {time, seen};
  const auto all = with_those_behind({thread});
  leave(thread, place->second.owner);
  waits_.erase(place);
  for (const auto one : all) {
    ends_(one, time);
    if (one != thread) tell(one, time);
  }
}

void OwnerChains::change_owner(const std::unordered_set<Index>& threads, i64 time, Index owner,
                               const Moment& owned_since) {
  std::vector<Index> waiters;
  for (const auto thread : threads) {
    const auto place = waits_.find(thread);
    if (place == waits_.end() || place->second.owner == owner) continue;  // it took it again
    leave(thread, place->second.owner);
    waiters.push_back(thread);
  }
  std::sort(waiters.begin(), waiters.end());
  const auto all = with_those_behind(waiters);
  if (owner != nobody && together(owner) + all.size() > most_together) {
    ++left_out_;
    owner = nobody;
  }
  for (const auto thread : waiters) {
    auto& wait = waits_.at(thread);
    wait.owner = owner;
    wait.owned_since = owned_since;
    if (owner != nobody) behind_[owner].insert(thread);
  }
  for (const auto one : all) {
    ends_(one, time);
    tell(one, time);
  }
}

}  // namespace coldtrace::trace_analysis
