#pragma once

#include <functional>
#include <optional>
#include <span>

#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

constexpr std::size_t most_links = 1024;  // that Windows makes of a file

// What was met when the records of one file were joined.
struct Assembly {
  struct Absent {
    AttributeType type;
    u64 record;
  };

  bool list_out_of_reach = false;  // outside an extracted $MFT; the records speak for themselves
  bool list_damaged = false;       // unreadable, or with impossible entries
  bool extension_missing = false;  // the list names a record that is not this file's
  bool extension_unlisted = false;
  bool names_left_out = false;  // more names than any file has
  u64 missing = 0;              // the first record of `extension_missing`
  // The first attribute that the list names and the record, which is this file's, does not have.
  std::optional<Absent> absent;
};

// True when an extension record belongs to a base: both in use, or both deleted, when the base
// has the next sequence number.
bool belongs_to(const RecordFacts& extension, const RecordFacts& base);

// Fills `facts` with one record alone; false when there is none.
using LoadRecord = std::function<bool(u64 record, RecordFacts& facts)>;

// Joins to `facts`, which hold a base record, the extension records that its attribute list and
// they themselves agree on, in the order of their numbers. `claims` are the records that name
// this one as their base, in order; without them those that the list names are asked.
Assembly assemble_file(const core::ImageSource& image, const Mft& mft,
                       std::optional<std::span<const u32>> claims, const LoadRecord& load,
                       RecordFacts& facts);

}  // namespace coldtrace::ntfs
