#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/error.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/guid.hpp"
#include "coldtrace/ntfs/assembly.hpp"
#include "coldtrace/ntfs/directory_node.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/zone_identifier.hpp"

namespace coldtrace::ntfs {

class RecordTable;

// How a name of a volume was found.
enum class State : u8 {
  live,         // through the directories, and the record agrees
  deleted,      // the record is not in use
  detached,     // in use; its parent directory is gone
  unreachable,  // in use, with a parent, but no directory lists it
  stale,        // a directory's entry for a record that does not belong to this file
  slack,        // left in unused bytes of a directory's index
  unnamed,      // in use without a name
};
constexpr std::size_t state_count = 7;

[[nodiscard]] std::string_view to_string(State state);
// By a name from to_string(); nothing for any other.
[[nodiscard]] std::optional<State> to_state(std::string_view text);

// The source of a row: what the walk knows before the record is unpacked.
struct RowSource {
  State state = State::live;
  bool wanted = true;  // false: its state was not requested; its findings count all the same
  FileReference file;
  bool has_record = true;   // false: only an entry describes it
  std::optional<u32> link;  // which of the record's names; absent: none, or not one of the record's
  StoredText name;          // without a link
  FileReference parent;
  Times index;                      // without a link and with an entry
  std::optional<EntryFacts> entry;  // without a link and with an entry
  core::ByteView packed_times;      // with a link and an entry
  bool indexed = false;             // there is an entry
  bool path_cut = false;            // the path does not reach the root
  bool unlisted = false;            // the record has no such name
  bool directory_again = false;     // entered before: a loop
  bool first_of_record = true;      // no row before it was of the same record
  bool streams_left_out = false;    // reported for another name, and too many to repeat
  std::optional<u64> stale_size;
  std::size_t path_start = 0;  // of the parent's path in the batch
  std::size_t path_length = 0;
};

// Rows of a walk, in order, with the paths of their directories.
struct RowBatch {
  std::vector<RowSource> rows;
  std::string paths;

  void clear() {
    rows.clear();
    paths.clear();
  }
  // Exact text without a trailing '/': the root is "".
  [[nodiscard]] std::string_view parent_path(const RowSource& row) const {
    return std::string_view{paths}.substr(row.path_start, row.path_length);
  }
};

// What of a row is needed.
enum class RowParts : u8 {
  head,     // names, times, the size of the content, what the record's header says
  streams,  // and its streams
  all,
};

// One stream of a file and the place of its bytes.
struct StreamRow {
  AttributeType type;
  StoredText name;
  u16 id;
  u64 record;  // the FILE record that contains it, or its first extent
  bool resident;
  bool compressed;
  bool encrypted;
  bool sparse;
  std::optional<u64> size;  // these three: absent if the start of the stream is lost
  // Resident: the byte of the image where it starts, and the bytes of it that fixups displace.
  std::optional<u64> resident_offset;
  std::size_t first_fixup = 0;
  std::size_t fixup_count = 0;
  // Not resident.
  std::optional<u64> allocated;
  std::optional<u64> valid;
  std::size_t first_extent = 0;
  std::size_t extent_count = 0;
};

// Separates the two names in a sentence. Names may contain quotes, so quotes alone separate
// nothing.
inline constexpr std::string_view between_names = "\" by the directory and \"";

// A finding about one name, in addition to those of the whole volume.
struct RowFinding {
  core::Name code;
  bool warning;
  std::string text;      // exact text (core/utf16.hpp), as the names in it
  bool of_name = false;  // false: of the file, reported once however many names it has
};

// All data of one name. Views are valid as long as the snapshot; the object is reused from row to
// row.
struct FileRow {
  const RowSource* source = nullptr;
  std::string_view parent_path;         // exact text
  RecordFacts facts;                    // empty without a record
  const FileName* file_name = nullptr;  // of the record
  const FileName* short_name = nullptr;
  StoredText name;
  std::optional<Times> index;
  Assembly assembly;
  u32 links = 0;  // names that are not short halves
  std::string_view owner_sid;
  std::optional<core::Guid> object_id;
  std::optional<u32> reparse_tag;
  std::optional<std::string> reparse_target;  // as ReparsePoint::target
  core::ByteView extended_attributes;         // the list of $EA
  std::optional<ZoneIdentifier> zone_id;      // if Snapshot::RowOptions requests it
  std::optional<u64> record_offset;
  std::optional<u64> content_size;       // of the unnamed $DATA, unless its start is lost
  std::vector<StreamRow> streams;        // $DATA
  std::vector<StreamRow> other_streams;  // other attributes outside the record, $EFS and similar
  std::vector<Extent> extents;
  std::vector<u32> fixup_positions;
  std::vector<RowFinding> findings;
  // The records from which `facts`, `assembly` and `links` were read; consecutive rows of one file
  // share them.
  std::shared_ptr<const char> loaded_from;  // identity of their table
  // Memory that is reused from row to row.
  std::vector<std::byte> owner_bytes;
  std::string owner_storage;
  std::vector<std::byte> extended_attribute_bytes;  // of a $EA outside the record
  std::vector<Extent> extent_scratch;
  std::vector<const AttributeFacts*> part_scratch;

  [[nodiscard]] std::span<const Extent> extents_of(const StreamRow& stream) const {
    return std::span{extents}.subspan(stream.first_extent, stream.extent_count);
  }
  [[nodiscard]] std::span<const u32> fixups_of(const StreamRow& stream) const {
    return std::span{fixup_positions}.subspan(stream.first_fixup, stream.fixup_count);
  }
  [[nodiscard]] const StreamRow* content() const;  // the unnamed $DATA
  [[nodiscard]] bool is_root() const;              // the one file that no directory lists
  [[nodiscard]] bool file_known() const { return !source->entry || source->entry->file_known; }

  // "/a/b", the root "/"; empty without a name. Invalid UTF-16 becomes U+FFFD.
  [[nodiscard]] std::string path() const;
  bool append_path(std::string& text) const;  // returns whether all of it is valid
  // The same as exact text.
  [[nodiscard]] std::string exact_path() const;

  // Empties everything except what is known about the file and its record.
  void clear();
};

// Adds the findings of a row to those of its volume.
void note_findings(const FileRow& row, core::Findings& findings);

}  // namespace coldtrace::ntfs
