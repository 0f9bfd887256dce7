#pragma once

#include <vector>

#include "coldtrace/trace_analysis/records/records.hpp"

namespace coldtrace::trace_analysis {

// How many events may wait for their stacks, and how many frames may be held for them: a stack that
// comes later than that is not found.
constexpr std::size_t most_pending = std::size_t{1} << 15U;
constexpr std::size_t most_pending_frames = std::size_t{1} << 20U;

// Joins stacks to the events that they belong to. Both have the same time and thread; the stack
// comes later, and its user-mode frames later than those of the kernel, when the thread returns to
// user mode.
class StackJoin {
 public:
  using Slot = u32;
  // Frames of a stack that are kept, the innermost ones. The kernel takes 192 at most.
  static constexpr std::size_t most_frames = 512;
  // For all stacks together: a reference of a few bytes may name a stack of many frames.
  static constexpr std::size_t most_frames_held = std::size_t{1} << 22U;

  // An event that may get a stack, kept until the slot is released.
  Slot expect(i64 time, Index thread);
  void release(Slot slot);

  void add(const StackWalk& walk);

  // Innermost first; empty until one has come.
  [[nodiscard]] std::span<const u64> frames(Slot slot) const { return slots_[slot].frames; }
  [[nodiscard]] i64 time_of(Slot slot) const { return slots_[slot].key.time; }

  [[nodiscard]] std::size_t frames_held() const { return frames_held_; }
  [[nodiscard]] u64 cut() const { return cut_; }  // stacks that are not kept, or not completely

 private:
  static constexpr Slot no_slot = 0xffff'ffff;
  struct Key {
    i64 time;
    Index thread;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key{};
    Slot next = no_slot;  // in its bucket
    u32 users = 0;
    bool has_kernel = false, has_user = false;  // parts
    bool is_cut = false;
    std::vector<u64> frames;
  };

  std::size_t bucket_of(const Key& key) const;
  Slot find(const Key& key) const;
  void link(Slot slot);
  void unlink(Slot slot);
  Slot free_slot();

  // A hash table whose chains go through the slots: an event that may have a stack goes in and out
  // of it, for which std::unordered_map allocates (bench/analyse_trace, running-stacks).
  std::vector<Slot> buckets_;  // the first of each chain; a power of two
  std::vector<Entry> slots_;
  std::vector<Slot> free_;
  std::size_t frames_held_ = 0;
  u64 cut_ = 0;
};

}  // namespace coldtrace::trace_analysis
