#include "coldtrace/ntfs/journal/deleted_times.hpp"

#include <algorithm>

#include "coldtrace/ntfs/change_journal.hpp"
#include "coldtrace/ntfs/journal_replay.hpp"
#include "coldtrace/ntfs/usn_names.hpp"

namespace coldtrace::ntfs {
namespace {

u64 file_key(FileReference file) {
  return file.record | u64{file.sequence} << 48;
}

// The sequence number that the file had: 0 is left out in counting.
u16 before_deletion(u16 sequence) {
  return sequence <= 1 ? u16{0xffff} : static_cast<u16>(sequence - 1);
}

}  // namespace

void DeletedTimes::add(const UsnRecord& record) {
  if ((record.reasons & usn_file_delete) == 0 || !record.time || record.file_high != 0) return;
  times_.insert_or_assign(file_key(record.file), DeletedAt{*record.time, record.usn});
}

std::optional<DeletedAt> DeletedTimes::find(const RowSource& source) const {
  if (source.entry && !source.entry->file_known) return std::nullopt;
  auto file = source.file;
  if (source.state == State::deleted)
    file.sequence = before_deletion(file.sequence);
  else if (source.state != State::stale && source.state != State::slack)
    return std::nullopt;
  const auto found = times_.find(file_key(file));
  return found == times_.end() ? std::nullopt : std::optional{found->second};
}

DeletedTimes read_deleted_times(const Volume& volume, const RecordTable& records,
                                core::Findings& findings) {
  DeletedTimes times;
  const auto journals = find_change_journals(volume, records, findings);
  if (std::ranges::none_of(journals, &ChangeJournal::in_use))
    findings.info(
        "journal-none", std::nullopt,
        "the volume has no change journal in use, which would say when files were deleted");
  for (const auto& journal : journals) {
    if (!journal.in_use) continue;
    JournalReplay replay{journal.stream, {}, {}};
    JournalBatch batch;
    while (replay.next(batch, findings))
      for (const auto& row : batch.rows) times.add(row.record);
  }
  return times;
}

}  // namespace coldtrace::ntfs
