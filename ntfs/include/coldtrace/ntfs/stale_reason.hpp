#pragma once

#include <string_view>

#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Why an entry of a directory does not lead to a file.
enum class StaleReason : u8 {
  another_file,   // the record is in use with another sequence number
  not_in_use,     // the file was deleted
  extension,      // the record contains a part of another file
  no_record,      // never used, or unreadable
  outside_table,  // $MFT has no such record
};
constexpr std::size_t stale_reason_count = 5;
[[nodiscard]] StaleReason find_stale_reason(const RecordTable& records, FileReference file);
[[nodiscard]] std::string_view to_string(StaleReason reason);

}  // namespace coldtrace::ntfs
