#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/ntfs/journal/usn_record.hpp"

namespace coldtrace::ntfs {

// What happened to a file from its first record after a CLOSE to the next CLOSE. Reasons accumulate
// over these records, so each is reported once here.
struct JournalEvent {
  u64 first_usn = 0;
  std::optional<core::FileTime> first_time;
  u64 records = 0;
  u32 reasons = 0;
  u32 sources = 0;
  bool closed = false;
  std::string old_path;  // before it was renamed; empty: it was not renamed
  u64 last_position = 0;
};

// Joins the records of a journal, from the oldest to the newest.
class JournalEvents {
 public:
  // Adds a record; `path` is that of its file, and required only if it is being renamed. Returns
  // the event that it closes.
  std::optional<JournalEvent> add(const UsnRecord& record, u64 position, std::string_view path);

  // Events without a CLOSE, by first USN.
  std::vector<JournalEvent> take_open();

  [[nodiscard]] u64 paths_left_out() const {
    return paths_left_out_;
  }  // old ones, because of limited memory

 private:
  struct Key {
    u64 reference;
    u64 high;
    friend bool operator==(Key, Key) = default;
  };
  struct Hash {
    std::size_t operator()(Key key) const {
      return std::hash<u64>{}((key.reference ^ key.high << 1) * 0x9e37'79b9'7f4a'7c15);
    }
  };

  std::unordered_map<Key, JournalEvent, Hash> open_;
  u64 paths_size_ = 0;
  u64 paths_left_out_ = 0;
};

}  // namespace coldtrace::ntfs
