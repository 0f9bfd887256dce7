#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/journal/usn_record.hpp"
#include "coldtrace/ntfs/record_facts.hpp"
#include "coldtrace/ntfs/record_table.hpp"

namespace coldtrace::ntfs {

// Compares the times of files in $STANDARD_INFORMATION, which programs can set, with the change
// journal of the volume, which they cannot change: when the file was created, and that its times or
// attributes were changed. Both are written within milliseconds, except for times that were set.
// Source: facts measured on volumes of Windows; NtSetInformationFile sets all four times, and NTFS
// writes the time of the change itself if it does not.
class JournalTimes {
 public:
  explicit JournalTimes(core::Borrowed<RecordTable> records) : records_{records.get()} {}

  // Before records: also checks whether journal and $MFT belong to one volume. NTFS writes the
  // number of a file's last journal record into its $STANDARD_INFORMATION, so there is a record of
  // that number and file if the journal extends so far.
  void ask_for_volume();
  // After records: the warning if they belong to two volumes, according to most files that show it.
  void report_volume(core::Findings& findings) const;

  // Records of one journal in their order. Contradictions are findings, one per kind and file.
  void add(const UsnRecord& record, std::optional<u64> offset, core::Findings& findings);

 private:
  void compare_number(const UsnRecord& record);
  u32 fresh_reasons(u64 file, u32 reasons, bool closes);

  const RecordTable& records_;
  RecordFacts facts_;
  std::unordered_map<u64, u32> open_;  // reasons of files that are not closed yet
  std::unordered_set<u64> told_;       // files with a reported change
  std::unordered_map<u64, u64> last_;  // number of a record: the file, according to $MFT
  u64 agreeing_ = 0;                   // files
  u64 contradicting_ = 0;
  std::optional<u64> first_number_;
  u64 last_number_ = 0;
};

}  // namespace coldtrace::ntfs
