#include "cli/ntfs/journal/journal_formats.hpp"
#include "cli/ntfs/journal/usn_texts.hpp"
#include "cli/ntfs/rows/l2tcsv_text.hpp"
#include "cli/output/csv_text.hpp"
#include "cli/output/exact_text.hpp"
#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {
namespace {

constexpr FlagTexts words{.before = {}, .after = {}, .separator = " "};
constexpr std::string_view columns =
    "usn,time,path,path_certain,name,record,sequence,parent_record,parent_sequence,reasons,sources,"
    "attributes,security_id,version,offset";
constexpr std::string_view last_columns =
    ",file_id,parent_file_id,name_utf16,name_from_next,extents_left,extents,path_utf16";
constexpr std::string_view event_columns = ",first_usn,first_time,records,closed,old_path";
constexpr std::string_view last_event_columns = ",old_path_utf16";

class CsvLines final : public JournalFormat {
 public:
  explicit CsvLines(const JournalFormatOptions& options)
      : events_{options.events},
        volume_{options.volume ? volume_cells(*options.volume) : std::string{no_volume_cells}},
        carved_{!options.carved   ? ""
                : *options.carved ? ",true"
                                  : ",false"} {}

  void write(const ntfs::JournalBatch& batch, const ntfs::JournalRow& row,
             core::TextBuffer& out) override {
    out_ = &out;
    const auto& record = row.record;
    number(record.usn);
    time(record.time);
    scratch_.clear();
    const bool valid = batch.append_path(row, scratch_);
    text(scratch_);
    out.append(!row.path_known ? "," : row.path_certain ? "true," : "false,");
    scratch_.clear();
    ntfs::append_utf8(scratch_, record.name);
    text(scratch_);
    for (const u64 value : {record.file.record, u64{record.file.sequence}, record.parent.record,
                            u64{record.parent.sequence}})
      number(value);
    text(reasons_.text(record.reasons));
    text(sources_.text(record.sources));
    text(record.attributes ? attributes_.text(*record.attributes) : std::string_view{});
    number(record.security_id ? std::optional<u64>{*record.security_id} : std::nullopt);
    number(record.major);
    number(row.offset);
    if (events_ && row.event) write_event(batch.events[*row.event]);
    out.append(volume_);
    out.append(',');
    write_last(row);
    out.append(',');
    if (!valid) out.append(ntfs::to_utf16_hex(batch.exact_path(row)));
    if (events_) out.append(',');
    if (events_ && row.event) out.append(inexact_units(batch.events[*row.event].old_path));
    out.append(carved_);
    out.append('\n');
  }

 private:
  // Each cell with the comma behind it.
  void number(const std::optional<u64>& value) {
    if (value) out_->append_decimal(u64{*value});
    out_->append(',');
  }

  void time(const std::optional<core::FileTime>& value) {
    if (value) out_->append(formatter_.format(*value));
    out_->append(',');
  }

  void text(std::string_view value) {
    if (needs_csv_quotes(value)) {
      out_->append('"');
      append_doubled_quotes(*out_, value);
      out_->append('"');
    } else {
      out_->append(value);
    }
    out_->append(',');
  }

  void file_id(u64 high, ntfs::FileReference low) {
    if (high != 0) out_->append(long_file_id(high, low));
    out_->append(',');
  }

  // What most records do not have, in columns behind all others.
  void write_last(const ntfs::JournalRow& row) {
    const auto& record = row.record;
    file_id(record.file_high, record.file);
    file_id(record.parent_high, record.parent);
    scratch_.clear();
    if (!ntfs::append_utf8(scratch_, record.name)) out_->append(ntfs::to_utf16_hex(record.name));
    out_->append(',');
    if (record.major != 4) return out_->append(",,");
    out_->append(row.borrowed ? "true," : "false,");
    number(record.extents_left);
    for (u64 i = 0; i < record.extent_count(); ++i) {
      const auto extent = record.extent(i);
      if (i > 0) out_->append(' ');
      out_->append_decimal(extent.offset);
      out_->append('+');
      out_->append_decimal(extent.length);
    }
  }

  void write_event(const ntfs::JournalEvent& event) {
    number(event.first_usn);
    time(event.first_time);
    number(event.records);
    out_->append(event.closed ? "true," : "false,");
    text(shown_text(event.old_path));
  }

  bool events_;
  std::string volume_;
  std::string_view carved_;
  core::TextBuffer* out_ = nullptr;
  std::string scratch_;
  core::FileTimeFormatter formatter_;
  FlagTextCache reasons_{ntfs::usn_reasons(), words};
  FlagTextCache sources_{ntfs::usn_sources(), words};
  AttributeTextCache attributes_{words};
};

}  // namespace

std::unique_ptr<JournalFormat> make_journal_csv(const JournalFormatOptions& options) {
  return std::make_unique<CsvLines>(options);
}

std::string long_file_id(u64 high, ntfs::FileReference low) {
  return fmt::format("{:016x}{:04x}{:012x}", high, low.sequence, low.record);
}

std::string journal_csv_header(const JournalFormatOptions& options) {
  if (options.format == "csv")
    return std::string{columns} + (options.events ? std::string{event_columns} : "") + ',' +
           std::string{volume_columns} + std::string{last_columns} +
           std::string{options.events ? last_event_columns : ""} +
           (options.carved ? ",carved\n" : "\n");
  if (options.format == "mftecmd-csv")
    return "Name,Extension,EntryNumber,SequenceNumber,ParentEntryNumber,ParentSequenceNumber,"
           "ParentPath,UpdateSequenceNumber,UpdateTimestamp,UpdateReasons,FileAttributes,"
           "OffsetToData,SourceFile\n";
  if (options.format == "l2tcsv") return std::string{l2tcsv_header()};
  return {};
}

}  // namespace coldtrace::cli
