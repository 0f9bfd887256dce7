#pragma once

#include <vector>

#include "coldtrace/ntfs/journal/journal_stream.hpp"
#include "coldtrace/ntfs/journal/usn_record.hpp"

namespace coldtrace::ntfs {

// A record of $UsnJrnl:$J and its place.
struct JournalRecord {
  UsnRecord record;
  u64 position;  // in the stream
};

// A range of a journal whose records are lost.
struct JournalLoss {
  enum class Why : u8 { unread, damaged };
  Why why;
  u64 position;
  u64 length;
};

// One block of a journal and the records in it, which view its bytes.
struct JournalBlock {
  std::vector<std::byte> bytes;
  std::vector<JournalRecord> records;
  std::vector<JournalLoss> losses;
};

// Stricter than the requirements for a record at a position in its page: none of 1.3 GB of clusters
// that belong to no journal looks like this. Version 4 has too little that could be checked.
[[nodiscard]] bool is_likely_record(const UsnRecord& record, u64 position);

// Reads a block page by page: records follow each other from the start of a page, and zeros fill
// the rest of it. After damage, the next record of the page is searched for.
void read_journal_block(const JournalStream& stream, const core::ByteRange& range,
                        JournalBlock& block);

// Whether no record can be missing between two: the second follows the first, or starts the next
// page because it would not have fit before.
[[nodiscard]] bool follows(const UsnRecord& first, const UsnRecord& second);

}  // namespace coldtrace::ntfs
