#pragma once

#include <span>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/progress.hpp"
#include "coldtrace/ntfs/journal/change_journal.hpp"
#include "coldtrace/ntfs/journal/journal_stream.hpp"
#include "coldtrace/ntfs/volume.hpp"

namespace coldtrace::ntfs {

// Pages of change journals in clusters that $Bitmap marks as free: the remains of a journal whose
// record is gone too, and of the start of one that is in use. A page is recognised by its first
// record and by another one; none of 1.3 GB of clusters that belong to no journal looks like that.
// The numbers of its records give its place in its journal. If two journals have the same numbers,
// or times that go back where numbers continue, each has its own stream; if the clock of a journal
// was set back, each part has one. Records of two journals may still be in one stream if nothing in
// them shows it.
struct CarvedJournals {
  static constexpr std::size_t most_pages = std::size_t{1} << 20;  // 4 GiB of journal

  std::vector<JournalStream> streams;  // positions are record numbers
  u64 pages = 0;
};

// Reads all free clusters of the volume, except those of the `known` journals. `progress` is called
// with bytes and pages; it may be null. What was not searched is a finding.
[[nodiscard]] CarvedJournals carve_journals(const Volume& volume,
                                            std::span<const ChangeJournal> known,
                                            core::Progress* progress, core::Findings& findings);

}  // namespace coldtrace::ntfs
