#pragma once

#include <string>
#include <string_view>

#include "coldtrace/core/file_time.hpp"

namespace coldtrace::cli {

// The 17 columns of log2timeline's CSV. Source: plaso's output module l2tcsv, as published.
struct L2tLine {
  core::FileTime time;
  std::string_view macb;         // "M.C."
  std::string_view source_type;  // "NTFS $FILE_NAME"
  std::string type;              // "Content Modification Time; Last Access Time"
  std::string user = "-";
  std::string short_text;  // these three are written as they are
  std::string text;
  std::string path;  // with '/'
  std::string inode;
  std::string extra;
};

std::string_view l2tcsv_header();

// The line with its newline. In cells, commas become spaces, as in plaso, and unprintable
// characters are escaped. Paths have plaso's form for NTFS: "NTFS:\a\b".
std::string l2tcsv_line(const L2tLine& line);

// "NTFS:\a\b" of "/a/b".
std::string plaso_path(std::string_view path);

}  // namespace coldtrace::cli
