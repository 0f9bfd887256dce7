#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// The part of a file that a comparison uses, from a volume or from its description. Absent values
// are unknown and not compared. Names and targets are exact text (core/utf16.hpp), those of
// extended attributes and LX links the bytes that they are.

// A name is its text in its directory: renaming a directory above does not change it.
struct ComparedName {
  FileReference parent;
  std::string name;
  std::string path;
  std::optional<std::string> short_name;  // empty: there is none
  std::optional<Times> times;             // of its $FILE_NAME
};

// A $DATA stream, as far as it is compared between two volumes.
struct ComparedStream {
  std::string name;         // empty: unnamed
  std::optional<u64> size;  // absent if its start is lost
  bool resident = false;
  bool compressed = false;
  bool encrypted = false;
  bool sparse = false;
  std::optional<u64> valid;  // bytes that were written
  std::vector<Extent> extents;
};

// Members without a change of their own, by their names in rows of a snapshot.
constexpr std::array<std::string_view, 5> compared_members{"security_id", "object_id", "reparse",
                                                           "ea", "other_streams"};

// A file in use with all of its names, as far as it is compared between two volumes.
struct ComparedFile {
  FileReference file;
  bool directory = false;
  // Attributes of it are lost: a name, stream or member that it lacks is unknown.
  bool incomplete = false;
  std::vector<ComparedName> names;
  std::optional<Times> times;  // of $STANDARD_INFORMATION
  std::optional<u32> attributes;
  std::optional<std::string> owner;  // SID
  // For each of compared_members, equal texts if the members are equal; empty if the file has none.
  std::array<std::optional<std::string>, compared_members.size()> members;
  std::optional<std::vector<ComparedStream>> streams;

  [[nodiscard]] const ComparedStream* content() const;  // the unnamed stream
};

// Whether a finding of a row, by its code, says that attributes of the file may be lost.
[[nodiscard]] bool loses_attributes(std::string_view finding_code);

// Turns what an incomplete file lacks into what is unknown of it.
void forget_lost(ComparedFile& file);

// The compared form of row members.
[[nodiscard]] std::string compared_reparse(u32 tag, const std::optional<std::string>& target);
void append_compared_attribute(std::string& text, std::string_view name, u64 size);
// A stream of another type than $DATA. Those that other members are made from, and the indexes of a
// directory, which change with each of its files, add nothing.
void append_compared_stream(std::string& text, std::string_view type, std::string_view name,
                            std::optional<u64> size);

// One name with its file, from one row of a snapshot.
void to_compared(const FileRow& row, ComparedFile& file);

}  // namespace coldtrace::ntfs
