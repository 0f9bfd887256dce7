#pragma once

#include <map>
#include <optional>
#include <vector>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::ntfs {

// A range of the image that could not be read or used, and what was lost with it.
struct Gap {
  enum class Lost : u8 { records, index };
  std::optional<u64> offset;  // bytes of the image; absent for records in a hole of $MFT
  u64 length;
  Lost lost;
  u64 first;  // number of the first record; for an index, of its directory
  u64 count;
};

// Adds a gap to those before it. Records that follow the last ones, in number and place, are one
// gap with them; so are those that have no place.
void append_gap(std::vector<Gap>& gaps, const Gap& gap);

// The numbers of the records that gaps lost: whether their files are there is unknown.
class LostRecords {
 public:
  // A gap of another kind adds nothing.
  void add(const Gap& gap);
  [[nodiscard]] bool contain(u64 record) const;

 private:
  std::map<u64, u64> ranges_;  // the first and what is behind the last; apart from each other
};

}  // namespace coldtrace::ntfs
