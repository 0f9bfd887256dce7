#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "coldtrace/ntfs_query/file_values.hpp"

namespace coldtrace::cli {

// The value of --sort: "MEMBER" or "MEMBER:desc".
struct SortOrder {
  ntfs::FileMember member;
  bool descending = false;
};

// Throws Failure if it is neither.
SortOrder read_sort_order(std::string_view text);

// The sort key of one row: of several values, the first in the order.
struct SortKey {
  bool missing = true;
  u64 number = 0;    // for numbers, times and booleans
  std::string text;  // for texts, and GUIDs as in lines

  static SortKey of(const SortOrder& order, ntfs::FileValues& values);
};

// Whether a row comes before another; rows without a value are last in both directions. Texts are
// compared ignoring ASCII case, then exactly.
bool is_before(const SortOrder& order, const SortKey& one, const SortKey& other);

}  // namespace coldtrace::cli
