#pragma once

#include <vector>

#include "coldtrace/tracefile/names/name_records.hpp"
#include "coldtrace/tracefile/names/name_validity.hpp"

namespace coldtrace::tracefile {

// Values of keys that change over time: who had the name when. Built from the records of a first
// pass. PIDs and addresses are reused, so everything is kept with its time; what only the rundown
// at the end of the trace names had its name all along. An end does not end a name: events that
// follow it, up to the next use of the id, are still about the same thing.
class Timeline {
 public:
  struct Entry {
    u64 key;
    i64 from;  // raw timestamp
    u32 owner;
    u32 value : 30;  // 0: none
    u32 verb : 2;    // of the record, a NameRecord::Verb
  };

  // `most` entries is the limit that whoever adds them keeps to.
  explicit Timeline(std::size_t most = std::size_t{1} << 20) : most_{most} {}

  // Adds a record, in file order. Records that change nothing are dropped when there are many.
  void add(const Entry& record);
  // To be called once, after all records.
  void finish();
  // The entry in effect at `time`, or nothing.
  [[nodiscard]] const Entry* find(u64 key, i64 time) const;
  const Entry* find(u64 key, i64 time, NameValidity& validity) const;

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  // The first entry after those of the key up to `time`; may be the end.
  const Entry* find_later(u64 key, i64 time) const;
  void sort();
  void drop_repetitions();

  std::size_t most_;
  std::vector<Entry> entries_;  // by key and time, the first sorted_ of them
  std::size_t sorted_ = 0;
};

}  // namespace coldtrace::tracefile
