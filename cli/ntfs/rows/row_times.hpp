#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::cli {

// One of a file's times, in the words of each format.
struct TimeKind {
  core::FileTime ntfs::Times::*time;
  char letter;                   // of The Sleuth Kit's "macb"
  std::string_view description;  // of plaso
  std::string_view type;         // of ECS
  std::string_view action;
};
constexpr TimeKind time_kinds[] = {
    {&ntfs::Times::created, 'b', "Creation Time", "creation", "created"},
    {&ntfs::Times::modified, 'm', "Content Modification Time", "change", "modified"},
    {&ntfs::Times::changed, 'c', "Metadata Modification Time", "change", "record changed"},
    {&ntfs::Times::accessed, 'a', "Last Access Time", "access", "accessed"}};

// A set of times in a row.
struct TimeSet {
  std::string_view name;    // "$FILE_NAME"
  std::string_view member;  // in lines: "fn"
  u32 attribute;
};

// Passes to `visit` the times of $STANDARD_INFORMATION and of $FILE_NAME, or those of the index if
// nothing else tells of the file.
template <class Visit>
void each_time_set(const ntfs::FileRow& row, Visit visit) {
  if (row.facts.information)
    visit(row.facts.information->times, TimeSet{"$STANDARD_INFORMATION", "si", 0x10});
  if (row.file_name != nullptr) visit(row.file_name->times, TimeSet{"$FILE_NAME", "fn", 0x30});
  if (!row.facts.information && row.file_name == nullptr && row.index)
    visit(*row.index, TimeSet{"index", "index", 0x90});
}

// The size of the unnamed stream, or that in the directory entry.
std::optional<u64> timeline_size(const ntfs::FileRow& row);
bool is_directory(const ntfs::FileRow& row);
// Whether the name currently exists on the volume.
bool is_allocated(ntfs::State state);

}  // namespace coldtrace::cli
