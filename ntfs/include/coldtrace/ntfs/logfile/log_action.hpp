#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/ntfs/structures/file_name.hpp"
#include "coldtrace/ntfs/structures/reference.hpp"

namespace coldtrace::ntfs {

// What NTFS does to one structure, as stored in a record of $LogFile. Source: linux-ntfs
// documentation, "$LogFile"; Linux's ntfs3, fslog.c, enum LOG_OPERATION.
enum class LogOperation : u16 {
  initialize_file_record = 0x02,
  deallocate_file_record = 0x03,
  create_attribute = 0x05,
  delete_attribute = 0x06,
  update_resident_value = 0x07,
  update_nonresident_value = 0x08,
  add_index_entry_root = 0x0c,
  delete_index_entry_root = 0x0d,
  add_index_entry = 0x0e,
  delete_index_entry = 0x0f,
  forget_transaction = 0x1b,
};

// "AddIndexEntryAllocation"; empty for an unknown number.
[[nodiscard]] std::string_view to_string(LogOperation operation);

// The data of an NTFS record in a log. Views bytes owned elsewhere.
struct LogAction {
  LogOperation redo;
  LogOperation undo;
  core::ByteView redo_data;
  core::ByteView undo_data;
  u16 record_offset;        // of the attribute in its FILE record
  u16 attribute_offset;     // of the change in the attribute
  std::optional<u64> file;  // number of the FILE record, for operations on one

  // Whether redo or undo is an operation on a FILE record.
  [[nodiscard]] bool is_of_file_record() const;
};

// `cluster_size` is that of the volume; nothing if there are too few bytes for an action's header.
[[nodiscard]] std::optional<LogAction> read_log_action(core::ByteView data, u32 cluster_size);

// An entry of a directory in an action; nothing for entries of other indexes.
struct LogEntry {
  FileReference file;
  FileName name;
};
[[nodiscard]] std::optional<LogEntry> read_log_entry(core::ByteView data);

// The data of a FILE record that an action writes; it has no fixups there.
struct LogFileRecord {
  u16 sequence = 0;
  u16 flags = 0;
  std::optional<Times> times;
  std::vector<FileName> names;
};
[[nodiscard]] std::optional<LogFileRecord> read_logged_record(core::ByteView data);

}  // namespace coldtrace::ntfs
