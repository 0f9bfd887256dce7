#pragma once

#include <unordered_map>
#include <unordered_set>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/record_table.hpp"
#include "coldtrace/ntfs/usn_record.hpp"

namespace coldtrace::ntfs {

// Holds the times of files in $STANDARD_INFORMATION, which programs can set, against what the
// change journal of the volume says, which they cannot: when the file was created, and that its
// times or attributes were changed. Both are written within milliseconds, but for times that were
// set. Source: facts measured on volumes of Windows; NtSetInformationFile sets all four times, and
// NTFS writes the time of the change itself where it does not.
class JournalTimes {
 public:
  explicit JournalTimes(core::Borrowed<RecordTable> records) : records_{records.get()} {}

  // Records of one journal in their order. Contradictions are findings, one of a kind and file.
  void add(const UsnRecord& record, std::optional<u64> offset, core::Findings& findings);

 private:
  u32 fresh_reasons(u64 file, u32 reasons, bool closes);

  const RecordTable& records_;
  RecordFacts facts_;
  std::unordered_map<u64, u32> open_;  // reasons of files that were not closed yet
  std::unordered_set<u64> told_;       // files of which a change was
};

}  // namespace coldtrace::ntfs
