#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/ntfs/rows/volume_name.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/ntfs/journal/journal_replay.hpp"

namespace coldtrace::cli {

// Writes the rows of a change journal in one format. One object per thread.
class JournalFormat {
 public:
  virtual ~JournalFormat() = default;
  virtual void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
                     core::TextBuffer& out) = 0;
  // Formats that have only rows have no line for a gap.
  virtual void write_gap(const ntfs::JournalGap&, core::TextBuffer&) {}
};

struct JournalFormatOptions {
  std::string format;  // "ndjson", "json", "csv", "mftecmd-csv", "l2tcsv", "bodyfile" or "text"
  std::string source;  // the input's name, for formats with it in each row
  bool events = false;
  Int64 int64 = Int64::number;
  std::optional<VolumeName> volume = std::nullopt;  // none for a copied journal
  // Whether rows are from pages in free clusters; nothing if these were not searched.
  std::optional<bool> carved = std::nullopt;
};

std::unique_ptr<JournalFormat> make_journal_format(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_json(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_csv(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_mftecmd(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_l2tcsv(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_body(const JournalFormatOptions& options);
std::unique_ptr<JournalFormat> make_journal_text(const JournalFormatOptions& options);

// The line with the column names; empty for formats without one.
std::string journal_csv_header(const JournalFormatOptions& options);
// A 128-bit file number, whose lower half is `low`.
std::string long_file_id(u64 high, ntfs::FileReference low);
std::string journal_text_heading();

}  // namespace coldtrace::cli
