#pragma once

#include <optional>
#include <span>
#include <vector>

#include "coldtrace/tracefile/names/name_records.hpp"

namespace coldtrace::tracefile {

// The stacks that events name by a key. The kernel reuses keys, and says what a key stood for when
// it drops the key (KeyDelete) or at the end of the trace (KeyRundown): a key means what the first
// of these at or after the event says. Source: observed on real traces, in which the frames agree
// with what the event says about them.
class StackTable {
 public:
  // Frames of the longest stack that is kept. The kernel takes 192 at most.
  static constexpr u32 most_frames = 256;

  // False if the stack has too many frames; events that refer to it then have none.
  bool add(const NameRecord& record, const u64* frames);
  // For a record that is not kept: no stack is found across its time.
  void drop(const NameRecord& record);
  // To be called once, after all records.
  void finish();

  // What an event knows about its stack. Kernel addresses begin with a one bit, if it says which.
  struct Reference {
    u64 key;
    i64 time;
    std::optional<bool> kernel;
  };
  // Nothing if it has no definition, or one that may belong to a later use of the key.
  [[nodiscard]] std::optional<std::span<const u64>> find(const Reference& reference) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return entries_.capacity() * sizeof(Entry) + frames_.capacity() * sizeof(u64);
  }

 private:
  struct Entry {
    u64 key;
    i64 time;
    u32 first;  // of its frames
    u16 count;
    bool defines;  // false: from here on the key means another stack
  };

  u32 add_frames(std::span<const u64> frames);

  std::vector<Entry> entries_;  // by key and time
  std::vector<u64> frames_;
  std::vector<u32> known_frames_;                    // some of them by hash, until finish()
  std::optional<i64> dropped_first_, dropped_last_;  // times
};

}  // namespace coldtrace::tracefile
