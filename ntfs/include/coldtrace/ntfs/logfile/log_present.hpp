#pragma once

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/logfile/log_history.hpp"
#include "coldtrace/ntfs/path_chain.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// What $MFT says of a file that a log tells of.
enum class LogPresent : u8 {
  same_name,   // in use, with the last name that the event has
  other_name,  // in use, without it
  in_use,      // in use; the event has no name or no sequence number
  deleted,     // not in use since this file
  reused,      // another file's, or was one's after this file
  absent,      // never used, or not readable
};
[[nodiscard]] std::string_view to_string(LogPresent present);

// Compares events with the present $MFT.
class LogPresence {
 public:
  explicit LogPresence(core::Borrowed<RecordTable> records)
      : records_{records.get()}, chain_{records} {}

  // What $MFT says of the file that the event is about.
  LogPresent find(const LogEvent& event);
  // Gives an event that the log leaves without a name the one that its record has now, where that
  // is in use.
  void add_name(LogEvent& event);
  // The present path of a name's directory with the name; empty where the directory is gone.
  std::string path_of(const LoggedName& name);

 private:
  const RecordTable& records_;
  PathChain chain_;
  RecordFacts facts_;
};

}  // namespace coldtrace::ntfs
