#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "coldtrace/ntfs/mft.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/structures/attribute_list.hpp"

namespace coldtrace::ntfs {

constexpr std::size_t most_links = 1024;  // Windows' limit for one file

// Problems found when the records of one file were joined.
struct Assembly {
  struct Place {
    AttributeType type;
    u64 record;
  };
  struct OtherUse {
    FileReference listed;
    u16 sequence;  // of the record
  };

  // Without a list, the records are used alone.
  bool list_out_of_reach = false;  // outside an extracted $MFT
  bool list_left_out = false;      // more than the image justifies
  bool list_damaged = false;       // unreadable, or with impossible entries
  bool extension_missing = false;  // the list names a record that does not belong to this file
  bool extension_unlisted = false;
  bool names_left_out = false;  // more names than any file has
  u64 missing = 0;              // the first record of `extension_missing`
  // The first disagreement of each kind between the list and the records of this file.
  std::optional<Place> absent;        // the list names it, the record does not have it
  std::optional<Place> unlisted;      // the record has it, the list does not name it
  std::optional<Place> repeated;      // the list names it more than once
  std::optional<OtherUse> other_use;  // the list names another use of the record
  std::optional<core::Name> lacking;  // that every file in use has, and this one does not
  std::vector<u64> joined;            // extension records
};

// True if an extension record belongs to a base: both in use, or both deleted, with the base having
// the next sequence number.
[[nodiscard]] bool belongs_to(const RecordFacts& extension, const RecordFacts& base);

// Adds a record that belongs to the file.
void join(const RecordFacts& extension, RecordFacts& facts, Assembly& assembly);

// Fills `facts` with one record only; false if there is none.
using LoadRecord = std::function<bool(u64 record, RecordFacts& facts)>;

// Joins to `facts`, which contain a base record, the extension records on which its attribute list
// and they themselves agree, in the order of their numbers. `claims` are the records that name this
// one as their base, in order; without them, those that the list names are checked. A list of more
// than `most_bytes` is left out.
Assembly assemble_file(const core::ImageSource& image, const Mft& mft,
                       std::optional<std::span<const u32>> claims, const LoadRecord& load,
                       RecordFacts& facts, u64 most_bytes = largest_attribute_list);

// Number of bytes that are read for the attribute list of a base record.
[[nodiscard]] u64 attribute_list_size(const RecordFacts& base);

}  // namespace coldtrace::ntfs
