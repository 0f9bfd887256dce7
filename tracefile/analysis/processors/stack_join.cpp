#include "coldtrace/trace_analysis/processors/stack_join.hpp"

#include <algorithm>
#include <utility>

namespace coldtrace::trace_analysis {
namespace {

constexpr std::size_t least_buckets = 1024;
// What a slot may keep for the next stack that it holds.
constexpr std::size_t most_frames_kept = 64;

}  // namespace

std::size_t StackJoin::bucket_of(const Key& key) const {
  const u64 mixed = (static_cast<u64>(key.time) ^ u64{key.thread} << 40U) * 0x9e37'79b9'7f4a'7c15U;
  return static_cast<std::size_t>(mixed >> 32U) & (buckets_.size() - 1);
}

StackJoin::Slot StackJoin::find(const Key& key) const {
  if (buckets_.empty()) return no_slot;
  auto slot = buckets_[bucket_of(key)];
  while (slot != no_slot && slots_[slot].key != key) slot = slots_[slot].next;
  return slot;
}

void StackJoin::link(Slot slot) {
  auto& first = buckets_[bucket_of(slots_[slot].key)];
  slots_[slot].next = std::exchange(first, slot);
}

void StackJoin::unlink(Slot slot) {
  auto* place = &buckets_[bucket_of(slots_[slot].key)];
  while (*place != slot) place = &slots_[*place].next;
  *place = slots_[slot].next;
}

StackJoin::Slot StackJoin::free_slot() {
  if (!free_.empty()) {
    const auto slot = free_.back();
    free_.pop_back();
    return slot;
  }
  slots_.emplace_back();
  if (slots_.size() > buckets_.size()) {
    buckets_.assign(std::max(least_buckets, 2 * buckets_.size()), no_slot);
    for (Slot i = 0; i + 1 < slots_.size(); ++i)
      if (slots_[i].users > 0) link(i);
  }
  return static_cast<Slot>(slots_.size() - 1);
}

// Several events of one time and thread have the same stack.
StackJoin::Slot StackJoin::expect(i64 time, Index thread) {
  const Key key{time, thread};
  auto slot = find(key);
  if (slot == no_slot) {
    slot = free_slot();
    slots_[slot].key = key;
    link(slot);
  }
  ++slots_[slot].users;
  return slot;
}

void StackJoin::release(Slot slot) {
  auto& entry = slots_[slot];
  if (--entry.users > 0) return;
  unlink(slot);
  frames_held_ -= entry.frames.size();
  auto frames = std::move(entry.frames);
  entry = {};
  if (frames.capacity() <= most_frames_kept) {
    frames.clear();
    entry.frames = std::move(frames);
  }
  free_.push_back(slot);
}

// Of two events of a thread at one tick nothing tells which a stack is of: both have the first one.
void StackJoin::add(const StackWalk& walk) {
  const auto slot = find({walk.event_time, walk.thread});
  if (slot == no_slot || walk.frames.empty()) return;
  auto& entry = slots_[slot];
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
