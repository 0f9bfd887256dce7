#include "coldtrace/trace_analysis/stack_join.hpp"

#include <algorithm>
#include <utility>

namespace coldtrace::trace_analysis {

// Several events of one time and thread have the same stack.
StackJoin::Slot StackJoin::expect(i64 time, Index thread) {
  const Key key{time, thread};
  const auto next = free_.empty() ? static_cast<Slot>(slots_.size()) : free_.back();
  const auto [known, added] = by_key_.try_emplace(key, next);
  if (added) {
    if (free_.empty())
      slots_.emplace_back();
    else
      free_.pop_back();
    slots_[next].key = key;
  }
  ++slots_[known->second].users;
  return known->second;
}

void StackJoin::release(Slot slot) {
  auto& entry = slots_[slot];
  if (--entry.users > 0) return;
  by_key_.erase(entry.key);
  frames_held_ -= entry.frames.size();
  entry = {};
  free_.push_back(slot);
}

// Of two events of a thread at one tick nothing tells which a stack is of: both have the first one.
void StackJoin::add(const StackWalk& walk) {
  const auto known = by_key_.find({walk.event_time, walk.thread});
  if (known == by_key_.end() || walk.frames.empty()) return;
  auto& entry = slots_[known->second];
  if (std::exchange(walk.of_kernel ? entry.has_kernel : entry.has_user, true)) return;
  auto& frames = entry.frames;
  const auto part = walk.frames.first(
      std::min({walk.frames.size(), most_frames, most_frames_held - frames_held_}));
  frames_held_ -= frames.size();
  frames.insert(walk.of_kernel ? frames.begin() : frames.end(), part.begin(), part.end());
  const bool too_many = frames.size() > most_frames || part.size() < walk.frames.size();
  if (too_many && !std::exchange(entry.is_cut, true)) ++cut_;
  frames.resize(std::min(frames.size(), most_frames));
  frames_held_ += frames.size();
}

}  // namespace coldtrace::trace_analysis
