#pragma once

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/ntfs/logfile/log_history.hpp"
#include "coldtrace/ntfs/path_chain.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// What $MFT says about a file in a log event.
enum class LogPresent : u8 {
  same_name,   // in use, with the last name in the event
  other_name,  // in use, without it
  in_use,      // in use; the event has no name or no sequence number
  deleted,     // not in use since this file
  reused,      // belongs to another file, or did after this file
  absent,      // never used, even if it was prepared for use, or unreadable
};
[[nodiscard]] std::string_view to_string(LogPresent present);

// Compares events with the present $MFT.
class LogPresence {
 public:
  explicit LogPresence(core::Borrowed<RecordTable> records)
      : records_{records.get()}, chain_{records} {}

  // What $MFT says of the file that the event is about.
  LogPresent find(const LogEvent& event);
  // Gives an event without a name in the log the present name of its record, if that is in use.
  void add_name(LogEvent& event);
  // The present path of a name's directory with the name; empty if the directory is gone.
  std::string path_of(const LoggedName& name);

 private:
  const RecordTable& records_;
  PathChain chain_;
  RecordFacts facts_;
};

}  // namespace coldtrace::ntfs
