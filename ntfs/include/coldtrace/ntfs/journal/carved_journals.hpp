#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/journal/change_journal.hpp"
#include "coldtrace/ntfs/journal/journal_stream.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Pages of change journals in clusters that $Bitmap says are free: what is left of a journal whose
// record is gone too, and of the start of one that is in use. A page counts by its first record and
// by one that none of 1.3 GB of clusters that belong to no journal looks like; its records' numbers
// say where in its journal it was. Of two journals with the same numbers, or with times that go
// back where numbers go on, each has a stream of its own, and of a journal whose clock was set back
// each part. Records of two may still stand in one where nothing in them says so.
struct CarvedJournals {
  static constexpr std::size_t most_pages = std::size_t{1} << 20;  // 4 GiB of journal

  std::vector<JournalStream> streams;  // positions are record numbers
  u64 pages = 0;
};

// Reads all free clusters of the volume, but for those that the `known` journals have. `progress`
// hears of their bytes and of pages; it may be null. What was not searched is a finding.
[[nodiscard]] CarvedJournals carve_journals(const Volume& volume,
                                            std::span<const ChangeJournal> known,
                                            core::Progress* progress, core::Findings& findings);

}  // namespace coldtrace::ntfs
