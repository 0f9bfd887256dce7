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

// Holds the times of files in $STANDARD_INFORMATION, which programs can set, against what the
// change journal of the volume says, which they cannot: when the file was created, and that its
// times or attributes were changed. Both are written within milliseconds, but for times that were
// set. Source: facts measured on volumes of Windows; NtSetInformationFile sets all four times, and
// NTFS writes the time of the change itself where it does not.
class JournalTimes {
 public:
  explicit JournalTimes(core::Borrowed<RecordTable> records) : records_{records.get()} {}

  // Before records: whether journal and $MFT are of one volume is asked too. NTFS writes the number
  // of a file's last record of the journal into its $STANDARD_INFORMATION, so that there is a
  // record of that number and file where the journal reaches so far.
  void ask_for_volume();
  // After records: the warning where they are of two, by most files that can tell.
  void report_volume(core::Findings& findings) const;

  // Records of one journal in their order. Contradictions are findings, one of a kind and file.
  void add(const UsnRecord& record, std::optional<u64> offset, core::Findings& findings);

 private:
  void compare_number(const UsnRecord& record);
  u32 fresh_reasons(u64 file, u32 reasons, bool closes);

  const RecordTable& records_;
  RecordFacts facts_;
  std::unordered_map<u64, u32> open_;  // reasons of files that were not closed yet
  std::unordered_set<u64> told_;       // files of which a change was
  std::unordered_map<u64, u64> last_;  // number of a record: of which file, by $MFT
  u64 agreeing_ = 0;                   // files
  u64 contradicting_ = 0;
  std::optional<u64> first_number_;
  u64 last_number_ = 0;
};

}  // namespace coldtrace::ntfs
