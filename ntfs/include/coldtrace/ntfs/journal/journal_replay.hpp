#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/journal/directory_history.hpp"
#include "coldtrace/ntfs/journal/journal_events.hpp"
#include "coldtrace/ntfs/journal/journal_pages.hpp"
#include "coldtrace/ntfs/journal/journal_stream.hpp"
#include "coldtrace/ntfs/journal/journal_times.hpp"

namespace coldtrace::ntfs {

// One row of a journal: a record, or the last record of an event.
struct JournalRow {
  UsnRecord record;            // with the missing values of a version 4 record, if known
  bool borrowed = false;       // name and time are those of the next record
  std::optional<u64> offset;   // of the record in the image
  std::size_t path_start = 0;  // of the directory, in the batch
  std::size_t path_length = 0;
  bool path_known = false;           // the record has a name
  bool path_whole = false;           // it reaches the root
  bool path_certain = false;         // it reaches the root, and no record since then is missing
  std::optional<std::size_t> event;  // in the batch
};

// A range of missing or unreadable records.
struct JournalGap {
  enum class Lost : u8 { unread, damaged, missing };
  Lost lost;
  std::optional<u64> offset;  // in the image; none for a missing range
  std::optional<u64> usn;     // for a missing range: its start
  u64 length;
  std::size_t before_row;  // of the batch
};

[[nodiscard]] std::string_view to_string(JournalGap::Lost lost);

// Rows of a replay, in order, with the paths of their directories. Records view its block.
struct JournalBatch {
  JournalBlock block;
  JournalBlock ahead;
  std::vector<JournalRow> rows;
  std::vector<JournalGap> gaps;
  std::vector<JournalEvent> events;
  std::string paths;
  u64 size = 0;  // of the part of the journal that was read, in bytes

  // Exact text without a trailing '/': the root is "".
  [[nodiscard]] std::string_view directory_of(const JournalRow& row) const {
    return std::string_view{paths}.substr(row.path_start, row.path_length);
  }
  // "/a/b"; empty without a name. Returns whether it is valid: U+FFFD stands for nothing.
  bool append_path(const JournalRow& row, std::string& text) const;
  // The same as exact text.
  [[nodiscard]] std::string exact_path(const JournalRow& row) const;
};

// The result of a replay so far.
struct JournalCounts {
  u64 records = 0;
  u64 events = 0;
  u64 open_events = 0;
  u64 gaps = 0;
  u64 uncertain_paths = 0;
  std::optional<u64> first_usn;
  std::optional<u64> last_usn;
};

// The records of a journal from the oldest to the newest, with the paths that their files had: one
// pass backwards to find the names of the directories at the start of the journal, then one
// forwards.
class JournalReplay {
 public:
  struct Options {
    bool events = false;   // a row for each event instead of each record
    bool in_place = true;  // record numbers are positions in the stream
    // Called for each record; may be null.
    JournalTimes* times = nullptr;
    bool current = true;  // the directories are those at the end of the journal, or there are none
    // `progress` is given the number of bytes that the backward pass reads, and is called with
    // bytes and records; it may be null.
    std::function<core::Progress*(u64 bytes)> begin = {};
    unsigned jobs = 1;  // threads that share the backward pass
  };

  // `stream` must outlive the replay; `directories` are those at the end of the journal.
  JournalReplay(core::Borrowed<JournalStream> stream, DirectoryHistory directories,
                Options options);

  // Fills the next batch; false if there are no more rows. Findings are about the part that was
  // read.
  bool next(JournalBatch& batch, core::Findings& findings);

  // The bytes read by all batches.
  [[nodiscard]] u64 size() const { return size_; }
  [[nodiscard]] const JournalCounts& counts() const { return counts_; }

 private:
  void rewind();
  void add_losses(JournalBatch& batch, u64 end, std::size_t& loss, core::Findings& findings);
  [[nodiscard]] bool ends_early(const UsnRecord& last) const;
  void tell_end(JournalBatch& batch, core::Findings& findings);
  void check(const JournalRecord& record, JournalBatch& batch, core::Findings& findings);
  void add_row(const JournalRecord& record, std::optional<u64> offset, const UsnRecord* behind,
               JournalBatch& batch, core::Findings& findings);
  void add_path(JournalRow& row, JournalBatch& batch, core::Findings& findings);
  void complete(JournalRow& row, const UsnRecord* behind) const;
  bool add_open_events(JournalBatch& batch, core::Findings& findings);
  const UsnRecord* record_behind(JournalBatch& batch, std::size_t index);
  void tell_rest(core::Findings& findings) const;

  const JournalStream& stream_;
  DirectoryHistory directories_;
  Options options_;
  JournalEvents events_;
  std::vector<core::ByteRange> blocks_;  // with records or losses
  std::size_t next_block_ = 0;
  std::size_t chain_end_ = 0;  // in the block: the chain was searched up to this record
  const UsnRecord* behind_chain_ = nullptr;  // the record after those of version 4; null: none
  u64 size_ = 0;                             // of the blocks
  u64 certain_from_ = 0;                     // position after which no record is missing
  std::optional<UsnRecord> last_;
  bool lost_since_ = false;  // damage since the last record explains a jump
  std::optional<std::vector<JournalEvent>> open_;
  std::size_t next_open_ = 0;
  u64 path_room_ = 0;
  std::string scratch_;
  JournalCounts counts_;
};

}  // namespace coldtrace::ntfs
