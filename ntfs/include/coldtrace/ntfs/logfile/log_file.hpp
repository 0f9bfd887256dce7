#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/logfile/log_restart.hpp"
#include "coldtrace/ntfs/mapped_stream.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// The bytes of a $LogFile: the stream of a volume, or a copy of it in a file.
class LogStream : public MappedStream {
 public:
  static constexpr u64 record = 2;  // number of its FILE record

  // A copy in a file, which must outlive the stream.
  [[nodiscard]] static LogStream of_file(core::Borrowed<core::ImageSource> file);
  // Record 2 of a volume, which must outlive the stream. Nothing if it has no clusters.
  [[nodiscard]] static std::optional<LogStream> of_volume(core::Borrowed<Volume> volume);

  // Whether all bytes are FF, as Linux drivers leave them. Reads up to the first other one.
  [[nodiscard]] bool is_erased() const;

 private:
  using MappedStream::MappedStream;
};

// Whether a file is what a copied $LogFile is after it was erased.
[[nodiscard]] bool is_erased_log(core::Borrowed<core::ImageSource> file);

// One record of a log, without its data.
struct LogRecord {
  static constexpr u32 type_restart = 2;  // a checkpoint

  u64 lsn;
  u64 offset;  // in the log
  u64 previous_lsn;
  u32 type;
  u32 transaction;
  u32 size;  // of the data
  // LogOperation, by number; absent for a checkpoint, and if the page ends before it.
  std::optional<u16> redo;
  std::optional<u16> undo;
};

// Problems of the pages of a log.
struct LogPageCounts {
  u64 pages = 0;  // with records
  u64 torn = 0;   // a fixup does not match; these are not used
  u64 unread = 0;
  u64 copies = 0;   // of newest pages
  u64 applied = 0;  // of those, newer than the page in its place
};

// A $LogFile whose records are found by their own contents: a record is one if its number leads to
// its own place. No link has to be intact, and remains of earlier laps are found too. Damage is a
// finding.
class LogFile {
 public:
  // `stream` must outlive the log.
  [[nodiscard]] static LogFile read(core::Borrowed<LogStream> stream, core::Findings& findings);

  [[nodiscard]] const std::vector<LogRestart>& restarts() const { return restarts_; }
  // The newer one of the intact restart pages; null if there is none.
  [[nodiscard]] const LogRestart* restart() const {
    return newest_ ? &restarts_[*newest_] : nullptr;
  }
  [[nodiscard]] const LogStream& stream() const { return *stream_; }
  [[nodiscard]] bool erased() const { return erased_; }
  [[nodiscard]] const LogPageCounts& counts() const { return counts_; }
  // In the order of their numbers.
  [[nodiscard]] const std::vector<LogRecord>& records() const { return records_; }
  // The data of a record, through all its pages; nothing if a page is missing, and a warning if one
  // cannot be read.
  std::optional<std::vector<std::byte>> read_data(const LogRecord& record,
                                                  core::Findings& findings);

 private:
  explicit LogFile(const LogStream& stream) : stream_{&stream} {}
  void read_restarts(core::Findings& findings);
  void read_copies(core::Findings& findings);
  void note_unread(u64 offset, core::Findings& findings);
  void find_records(core::Findings& findings);
  void find_records_of(u64 offset, core::ByteView page);
  std::optional<core::ByteView> page_at(u64 offset);
  enum class PageState : u8 { good, blank, torn, unread };
  PageState load(u64 offset, std::vector<std::byte>& page) const;

  const LogStream* stream_;
  std::vector<LogRestart> restarts_;
  std::optional<std::size_t> newest_;
  bool erased_ = false;
  std::map<u64, std::vector<std::byte>> copies_;  // newer than the pages at their places
  std::vector<LogRecord> records_;
  LogPageCounts counts_;
  std::set<u64> unread_;  // pages, of which each is counted once
  u64 data_room_ = 0;
  std::vector<std::byte> page_;  // the last one requested
  std::optional<u64> page_offset_;
  PageState page_state_ = PageState::blank;
};

}  // namespace coldtrace::ntfs
