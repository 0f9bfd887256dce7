#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::ntfs {

// What a comparison looks at of a file, from a volume or from what was written of one. What is
// absent is not known and not compared.

// A name is its text in its directory: that directories above have other names changes it not.
struct ComparedName {
  FileReference parent;
  std::string name;
  std::string path;
};

struct ComparedStream {
  std::string name;         // empty: unnamed
  std::optional<u64> size;  // absent where its start is lost
  bool resident = false;
  std::vector<Extent> extents;
};

struct ComparedFile {
  FileReference file;
  bool directory = false;
  std::vector<ComparedName> names;
  std::optional<Times> times;  // of $STANDARD_INFORMATION
  std::optional<u32> attributes;
  std::optional<std::string> owner;  // SID
  std::optional<std::vector<ComparedStream>> streams;

  [[nodiscard]] const ComparedStream* content() const;  // the unnamed stream
};

// What stands for a name that is not valid UTF-16, of its units in hexadecimal: no text is like it.
[[nodiscard]] std::string inexact_name(std::string_view utf16);
// A name as rows show it, with U+FFFD for what is not valid.
[[nodiscard]] std::string shown_name(const std::string& name);

// One name with its file, as a row of a snapshot has both.
void to_compared(const FileRow& row, ComparedFile& file);

}  // namespace coldtrace::ntfs
