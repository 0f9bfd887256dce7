#include "coldtrace/trace_analysis/stack_join.hpp"

#include <algorithm>
#include <utility>

namespace coldtrace::trace_analysis {

// Several events of one time and thread have the same stack.
StackJoin::Slot StackJoin::expect(i64 time, Index thread) {
  const Key key{time, thread};
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    ++slots_[known->second].users;
    return known->second;
  }
  Slot slot = 0;
  if (free_.empty()) {
    slot = static_cast<Slot>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].key = key;
  slots_[slot].users = 1;
  by_key_.emplace(key, slot);
  return slot;
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
  const auto count = std::min(walk.frames.size(), most_frames - entry.frames.size());
  if (walk.frames.size() > count) ++cut_;
  const auto frames = walk.frames.first(count);
  entry.frames.insert(walk.of_kernel ? entry.frames.begin() : entry.frames.end(), frames.begin(),
                      frames.end());
  frames_held_ += count;
}

}  // namespace coldtrace::trace_analysis
