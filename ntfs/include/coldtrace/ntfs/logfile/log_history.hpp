#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/logfile/log_action.hpp"
#include "coldtrace/ntfs/logfile/log_file.hpp"

namespace coldtrace::ntfs {

// A name in a directory. Owns its bytes.
struct LoggedName {
  FileReference parent;
  NameSpace name_space = NameSpace::posix;
  std::vector<std::byte> units;  // UTF-16
  Times times;                   // as in the entry

  [[nodiscard]] StoredText name() const { return to_stored_text(units); }
  friend bool is_same(const LoggedName& a, const LoggedName& b) {
    return a.parent == b.parent && a.units == b.units;
  }
};
[[nodiscard]] LoggedName to_logged_name(const FileName& name);

// What happened to a file, according to the records of one transaction.
enum class LogEventKind : u8 {
  created,
  deleted,
  renamed,      // in its directory
  moved,        // to another directory, perhaps with another name
  linked,       // one more name; or an entry of an index moved, and the other half is lost
  unlinked,     // one name fewer; or the same
  initialized,  // a record was written, and no directory received it
  deallocated,  // a record was freed, and no directory lost it
  times_set,    // in $STANDARD_INFORMATION
};
constexpr std::size_t log_event_kind_count = 9;
[[nodiscard]] std::string_view to_string(LogEventKind kind);

// Old and new value of one of the four times; 0: created, 1: modified, 2: changed, 3: accessed.
struct LoggedTime {
  unsigned which;
  core::FileTime before;
  core::FileTime after;
};

// The source of a time in an event.
enum class LogTimeSource : u8 { none, creation, journal };

// The source of the names in an event.
enum class LogNameSource : u8 {
  none,
  transaction,  // its own records
  log,          // the record's events before it, or those after it up to another file's
  mft,          // $MFT, if no event in the log changes them
};

// What happened to one file in a transaction.
struct LogEvent {
  LogEventKind kind;
  u64 record;
  std::optional<u16> sequence;
  std::optional<LoggedName> before;
  std::optional<LoggedName> after;
  LogNameSource name_source = LogNameSource::none;
  bool named_by_mft = false;  // times_set: the log does not contain the name; $MFT does
  std::vector<LoggedTime> times;
  bool partial = false;  // times_set: a time was changed in part, and is not reported
  bool committed = false;
  u64 lsn;  // of the transaction's end, or of its first record if it has none
  u32 transaction;
  std::vector<std::size_t> evidence;  // indexes of records of the log
  std::optional<core::FileTime> time;
  LogTimeSource time_source = LogTimeSource::none;
  // Times of the journal's records that are before and after it in the log.
  std::optional<core::FileTime> not_before;
  std::optional<core::FileTime> not_after;
};

// A record of the change journal that the log has written.
struct LoggedUsn {
  u64 lsn;
  FileReference file;
  u32 reasons;
  core::FileTime time;
};

// What the transactions of a $LogFile did, as far as its records show it.
struct LogHistory {
  std::vector<LogEvent> events;  // in the order of the ends of their transactions
  std::vector<LoggedUsn> journal;
  u64 actions = 0;
  u64 lost = 0;  // records whose data is incomplete
};

// Reads all records of a log. `cluster_size` is that of the volume; a log that was copied out
// contains it in its checkpoints.
LogHistory read_log_history(LogFile& log, u32 cluster_size, core::Findings& findings);

}  // namespace coldtrace::ntfs
