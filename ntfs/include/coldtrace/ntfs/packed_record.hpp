#pragma once

#include "coldtrace/ntfs/packed.hpp"
#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

// The facts of one FILE record in some 120 bytes: names with one byte per unit if possible, each
// distinct time once. The flags and allocated size of a $FILE_NAME are left out: they date from
// when the name was made.
void pack_record(const RecordFacts& facts, PackedWriter& out);

// Unpacks into empty `facts`.
void unpack_record(core::ByteView piece, u64 record, RecordFacts& facts);

// Only what precedes the attributes: information, names and the size of the content.
void unpack_names(core::ByteView piece, u64 record, RecordFacts& facts);

// What the walks need of every record, without unpacking it: 4 bytes.
struct RecordSummary {
  u16 sequence = 0;
  bool in_use : 1 = false;
  bool directory : 1 = false;
  bool extension : 1 = false;
  bool several_links : 1 = false;  // or names may be in extension records
  bool out_of_order : 1 = false;   // created before its neighbours, which agree with each other
};
[[nodiscard]] RecordSummary summarize(const RecordFacts& facts);

}  // namespace coldtrace::ntfs
