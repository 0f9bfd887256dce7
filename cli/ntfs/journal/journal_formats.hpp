#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/ntfs/rows/volume_name.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/ntfs/journal/journal_replay.hpp"

namespace coldtrace::cli {

// Writes the rows of a change journal in one format. One object a thread.
class JournalFormat {
 public:
  virtual ~JournalFormat() = default;
  virtual void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
                     core::TextBuffer& out) = 0;
  // Formats of rows alone have no line for what is not there.
  virtual void write_gap(const ntfs::JournalGap&, core::TextBuffer&) {}
};

struct JournalFormatOptions {
  std::string format;  // "ndjson", "json", "csv", "mftecmd-csv", "l2tcsv", "bodyfile" or "text"
  std::string source;  // the input's name, for formats that have it in each row
  bool events = false;
  Int64 int64 = Int64::number;
  std::optional<VolumeName> volume = std::nullopt;  // a journal that was copied has none
  // Whether rows are of pages in free clusters; nothing where these were not searched.
  std::optional<bool> carved = std::nullopt;
};

std::unique_ptr<JournalFormat> make_journal_format(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_json(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_csv(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_mftecmd(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_l2tcsv(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_body(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_text(const JournalFormatOptions& options);

// The line with the names of the columns; empty for formats without one.
std::string journal_csv_header(const JournalFormatOptions& options);
// A file's number of 128 bits, of which `low` is the lower half.
std::string long_file_id(u64 high, ntfs::FileReference low);
std::string journal_text_heading();

}  // namespace coldtrace::cli
