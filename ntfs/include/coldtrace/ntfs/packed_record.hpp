#pragma once

#include "coldtrace/ntfs/packed.hpp"
#include "coldtrace/ntfs/record_facts.hpp"

namespace coldtrace::ntfs {

// The facts of one FILE record in some 120 bytes: names of one byte a unit where they allow it,
// each distinct time once. Of a $FILE_NAME its flags and allocated size are left out: they are
// those of when the name was made.
void pack_record(const RecordFacts& facts, PackedWriter& out);

// Puts what was packed into empty `facts`.
void unpack_record(core::ByteView piece, u64 record, RecordFacts& facts);

// Only what stands before the attributes: information, names and the size of the content.
void unpack_names(core::ByteView piece, u64 record, RecordFacts& facts);

// What the walks ask of every record, without unpacking it: 4 bytes.
struct RecordSummary {
  u16 sequence = 0;
  bool in_use : 1 = false;
  bool directory : 1 = false;
  bool extension : 1 = false;
  bool several_links : 1 = false;  // or names may be in extension records
  bool out_of_order : 1 = false;   // created before its neighbours, which agree
};
[[nodiscard]] RecordSummary summarize(const RecordFacts& facts);

}  // namespace coldtrace::ntfs
