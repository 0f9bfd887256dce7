#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/findings.hpp"
#include "tracefile/name_records.hpp"

namespace coldtrace::tracefile {

// Texts kept once each. Ids are stable; 0 is the empty text.
class TextPool {
 public:
  u32 add(std::string_view text);
  std::string_view text(u32 id) const { return texts_[id]; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unordered_map<std::string, u32> ids_{{"", 0}};
  std::vector<std::string_view> texts_{""};
  std::size_t bytes_ = 0;
};

// Values of keys that change over time: who had the name when.
class Timeline {
 public:
  struct Entry {
    u64 key;
    i64 from;  // raw timestamp
    u32 value;
    u32 owner;
  };
  void add(const Entry& entry) { entries_.push_back(entry); }
  void sort();
  // The entry in effect at `time`, or nothing.
  const Entry* find(u64 key, i64 time) const;
  std::size_t size() const { return entries_.size(); }

 private:
  std::vector<Entry> entries_;  // by key and time
};

// Names in effect at any time of a trace, built from the records of a first pass. PIDs and
// addresses are reused, so all is kept with its time; what only the rundown at the end of the
// trace names had its name all along. An end is not the end of a name: events that follow it, up
// to the next use of the id, are still about the same thing.
class NameTables {
 public:
  // Bounds what is kept: entries beyond are dropped and counted in the finding `names-limit`.
  explicit NameTables(std::size_t largest_bytes) : largest_bytes_{largest_bytes} {}

  // Records of the next part of the file.
  void add(const NameRecords& records, core::Findings& findings);
  // To be called once, after all records.
  void finish();

  std::optional<std::string_view> find_process(u32 pid, i64 time) const;

  struct Thread {
    u32 pid;
    std::string_view name;  // empty when it has none
  };
  std::optional<Thread> find_thread(u32 tid, i64 time) const;

  std::optional<std::string_view> find_file(u64 object, i64 time) const;
  std::optional<std::string_view> find_registry_key(u64 handle, i64 time) const;

  struct Image {
    std::string_view name;
    u64 base;
  };
  // The image that has the address in the process or in the kernel.
  std::optional<Image> find_image(u32 pid, u64 address, i64 time) const;

  std::optional<std::span<const u64>> find_stack(u64 key) const;

  std::size_t bytes() const;
  std::size_t entries() const;

 private:
  struct ImageEntry {
    u32 pid;
    u32 name;
    u64 base;
    u64 size;
    i64 from, to;
  };
  // The last record of a key that is kept, to drop repetitions.
  struct State {
    NameRecord::Verb verb;
    u32 value;
    u32 owner;
    i64 repeated;  // time of the last record that was dropped
    bool dropped;
  };
  struct Pending {
    NameRecord record;
    u32 value;
  };
  using Subject = NameRecord::Subject;

  void add_named(const NameRecord& record, std::string_view text);
  void add_stack(const NameRecord& record, const u64* frames);
  static void build_timeline(std::vector<Pending>& pending, Timeline& timeline);
  void build_images(std::vector<Pending>& pending);
  std::optional<Image> find_image_of(u32 pid, u64 address, i64 time) const;

  std::size_t largest_bytes_;
  TextPool texts_;
  std::vector<Pending> pending_[5];  // by subject
  std::unordered_map<u64, State> states_[5];
  Timeline processes_, threads_, files_, registry_keys_;
  std::vector<ImageEntry> images_;  // by process, base and time
  std::unordered_map<u64, std::pair<u32, u32>> stacks_;
  std::vector<u64> frames_;
};

}  // namespace coldtrace::tracefile
