#pragma once

#include <optional>
#include <string>

#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/ntfs/logfile/log_file.hpp"
#include "coldtrace/ntfs/logfile/log_history.hpp"
#include "coldtrace/ntfs/logfile/log_present.hpp"

namespace coldtrace::cli {

// One row: an event, and what $MFT says about it.
struct LogRow {
  const ntfs::LogEvent& event;
  const ntfs::LogFile& log;
  std::optional<ntfs::LogPresent> present;  // none: without a $MFT
  std::string path;                         // empty: not known
  std::string old_path;
  std::optional<VolumeName> volume;  // none for a copied log
};

// "clean", "dirty", "erased", or "damaged" if no restart page can be read.
std::string_view log_state(const ntfs::LogFile& log);

// The member "log" of a header.
void write_log(JsonWriter& json, const ntfs::LogFile& log);
// The members of a row, after its type.
void write_log_row(JsonWriter& json, const LogRow& row);

constexpr std::string_view log_csv_header =
    "operation,time,time_from,not_before,not_after,record,sequence,path,name,parent_record,parent_"
    "sequence,"
    "old_path,old_name,old_parent_record,old_parent_sequence,committed,lsn,transaction,mft,name_"
    "from,times,"
    "times_partial,evidence,"
    "volume_image,volume_partition,volume_start,volume_shadow,name_utf16,old_name_utf16,"
    "path_utf16,old_path_utf16\n";
void append_log_csv(core::TextBuffer& csv, const LogRow& row);

// Text for people.
std::string log_heading(const ntfs::LogFile& log);
void append_log_text(core::TextBuffer& text, const LogRow& row);

std::string_view time_source_name(ntfs::LogTimeSource source);
// "transaction", "log", "mft"; empty if there is no name.
std::string_view name_source_name(ntfs::LogNameSource source);
std::string_view set_time_name(unsigned which);

}  // namespace coldtrace::cli
