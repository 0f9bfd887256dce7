#include "coldtrace/ntfs/journal/deleted_times.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/ntfs/journal/change_journal.hpp"
#include "coldtrace/ntfs/journal/journal_replay.hpp"
#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::ntfs {
namespace {

// The sequence number that the file had: 0 is left out in counting.
u16 before_deletion(u16 sequence) {
  return sequence <= 1 ? u16{0xffff} : static_cast<u16>(sequence - 1);
}

}  // namespace

void DeletedTimes::add(const UsnRecord& record) {
  if ((record.reasons & usn_file_delete) == 0 || !record.time || record.file_high != 0) return;
  times_.insert_or_assign(to_stored(record.file), DeletedAt{*record.time, record.usn});
}

std::optional<DeletedAt> DeletedTimes::find(const RowSource& source) const {
  if (source.entry && !source.entry->file_known) return std::nullopt;
  auto file = source.file;
  if (source.state == State::deleted)
    file.sequence = before_deletion(file.sequence);
  else if (source.state != State::stale && source.state != State::slack)
    return std::nullopt;
  const auto found = times_.find(to_stored(file));
  return found == times_.end() ? std::nullopt : std::optional{found->second};
}

void add_deletion_finding(const DeletedTimes& deleted, FileRow& row) {
  constexpr u64 tolerance = u64{60} * 10'000'000;
  const auto at = deleted.find(*row.source);
  if (!at) return;
  const auto compare = [&](const Times& times, std::string_view set, bool of_name) {
    if (times.created.ticks <= at->time.ticks || times.created.ticks - at->time.ticks <= tolerance)
      return false;
    row.findings.push_back(
        {"time-journal-deleted", false,
         fmt::format("deleted {} by the journal, and created {} by {}", core::to_string(at->time),
                     core::to_string(times.created), set),
         of_name});
    return true;
  };
  const auto& information = row.facts.information;
  if (information && compare(information->times, "$STANDARD_INFORMATION", false)) return;
  if (row.file_name && compare(row.file_name->times, "$FILE_NAME", true)) return;
  if (row.index) compare(*row.index, "the directory's entry", true);
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
