#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/attribute_list.hpp"

namespace coldtrace::ntfs {

constexpr std::size_t most_links = 1024;  // that Windows makes of a file

// What was met when the records of one file were joined.
struct Assembly {
  struct Place {
    AttributeType type;
    u64 record;
  };
  struct OtherUse {
    FileReference listed;
    u16 sequence;  // that the record has
  };

  // Without a list the records speak for themselves.
  bool list_out_of_reach = false;  // outside an extracted $MFT
  bool list_left_out = false;      // more than the image justifies
  bool list_damaged = false;       // unreadable, or with impossible entries
  bool extension_missing = false;  // the list names a record that is not this file's
  bool extension_unlisted = false;
  bool names_left_out = false;  // more names than any file has
  u64 missing = 0;              // the first record of `extension_missing`
  // Of the list and the records, which are this file's, the first of each that do not agree.
  std::optional<Place> absent;        // the list names it and the record does not have it
  std::optional<Place> unlisted;      // the other way round
  std::optional<Place> repeated;      // the list names it more than once
  std::optional<OtherUse> other_use;  // the list names another use of the record
  std::optional<core::Name> lacking;  // what every file in use has, and this one not
  std::vector<u64> joined;            // extension records
};

// True when an extension record belongs to a base: both in use, or both deleted, when the base
// has the next sequence number.
[[nodiscard]] bool belongs_to(const RecordFacts& extension, const RecordFacts& base);

// Adds a record that belongs to the file.
void join(const RecordFacts& extension, RecordFacts& facts, Assembly& assembly);

// Fills `facts` with one record alone; false when there is none.
using LoadRecord = std::function<bool(u64 record, RecordFacts& facts)>;

// Joins to `facts`, which hold a base record, the extension records that its attribute list and
// they themselves agree on, in the order of their numbers. `claims` are the records that name
// this one as their base, in order; without them those that the list names are asked. A list of
// more than `most_bytes` is left out.
Assembly assemble_file(const core::ImageSource& image, const Mft& mft,
                       std::optional<std::span<const u32>> claims, const LoadRecord& load,
                       RecordFacts& facts, u64 most_bytes = largest_attribute_list);

// Bytes that are read for the attribute list of a base record.
[[nodiscard]] u64 attribute_list_size(const RecordFacts& base);

}  // namespace coldtrace::ntfs
