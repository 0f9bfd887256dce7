#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/ntfs/journal/deleted_times.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/ntfs/structures/dos_attributes.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// The members of a file row, in output order.
enum class RowField : u8 {
  path,
  name,
  record,
  sequence,
  parent,
  state,
  directory,
  links,
  short_name,
  attributes,
  si,
  fn,
  index,
  owner_sid,
  security_id,
  usn,
  object_id,
  reparse,
  ea,
  record_offset,
  entry,
  size,
  streams,
  other_streams,
  findings,
  volume,
  zone_id,  // these two have to be requested: "all fields" lacks them
  deleted_at,
};

// The names of all fields; and these followed by those that have to be requested.
const std::vector<std::string>& row_field_names();
const std::vector<std::string>& chosen_field_names();

class RowFields {
 public:
  // All fields, or those named.
  explicit RowFields(const std::vector<std::string>& names);
  void add(RowField field) { bits_ |= u32{1} << static_cast<unsigned>(field); }
  bool contains(RowField field) const { return (bits_ >> static_cast<unsigned>(field) & 1) != 0; }

 private:
  u32 bits_ = 0;
};

// Writes rows in one format. One object per thread.
class RowFormat {
 public:
  virtual ~RowFormat() = default;
  virtual void write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                     core::TextBuffer& out) = 0;

  // The number of cells that were too long, and left empty.
  virtual u64 left_out() const { return 0; }
};

// What rows are written with besides their own data; each may be null.
struct RowContext {
  // Key by which rows are hashed (coldtrace/ntfs_privacy/hashed_row.hpp), for what formats ask of
  // records.
  const privacy::HashedNames* names = nullptr;
  const ntfs::DeletedTimes* deleted = nullptr;  // from the change journal
};

// `format` is "ndjson", "json", "csv", "bodyfile", "timesketch", "ecs", "text", "mftecmd-csv",
// "sqlite", whose tables read ndjson, or one for which is_sorted_by_time().
std::unique_ptr<RowFormat> make_row_format(const std::string& format, const RowFields& fields,
                                           Int64 int64, std::optional<u64> longest_cell,
                                           const VolumeName& volume,
                                           const RowContext& context = {});
// In an array, a comma precedes each row, since a header comes first.
std::unique_ptr<RowFormat> make_json_rows(const RowFields& fields, Int64 int64, bool array,
                                          const VolumeName& volume, const RowContext& context);
std::unique_ptr<RowFormat> make_csv_rows(const RowFields& fields, Int64 int64,
                                         std::optional<u64> longest_cell, const VolumeName& volume,
                                         const RowContext& context);
std::unique_ptr<RowFormat> make_body_rows(const VolumeName& volume,
                                          const privacy::HashedNames* names);
std::unique_ptr<RowFormat> make_text_rows(const VolumeName& volume);
std::unique_ptr<RowFormat> make_timesketch_rows(const VolumeName& volume);
std::unique_ptr<RowFormat> make_ecs_rows(const VolumeName& volume);
std::unique_ptr<RowFormat> make_mftecmd_rows(const VolumeName& volume);
// These two write lines preceded by their times (cli/ntfs/rows/keyed_lines.hpp), to be sorted.
std::unique_ptr<RowFormat> make_timeline_rows(const VolumeName& volume);
std::unique_ptr<RowFormat> make_l2tcsv_rows(const VolumeName& volume);
bool is_sorted_by_time(std::string_view format);

// The line with the column names.
std::string csv_header(const RowFields& fields);
std::string_view mftecmd_header();
std::string timeline_header();
std::string file_text_heading();
// "   4711-3       1.2 MiB  2024-02-29T12:34:56  ": the columns before a file's name in text, with
// texts that stand for what is not known.
std::string file_text_columns(std::string_view record, std::string_view sequence,
                              std::string_view size, std::string_view modified);

using ntfs::dos_attribute_bit;
using ntfs::dos_attribute_names;

}  // namespace coldtrace::cli
