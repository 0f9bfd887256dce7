#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::cli {

// What --sort asks for: "MEMBER" or "MEMBER:desc".
struct SortOrder {
  ntfs::FileMember member;
  bool descending = false;
};

// Throws Failure where it is neither.
SortOrder read_sort_order(std::string_view text);

// What one row is sorted by: of several values the first in the order.
struct SortKey {
  bool missing = true;
  u64 number = 0;    // of numbers, times and booleans
  std::string text;  // of texts, and of GUIDs as lines have them

  static SortKey of(const SortOrder& order, ntfs::FileValues& values);
};

// Whether a row comes before another: those without a value are last in both directions. Texts are
// compared without the case of ASCII letters, then as they are.
bool is_before(const SortOrder& order, const SortKey& one, const SortKey& other);

}  // namespace coldtrace::cli
