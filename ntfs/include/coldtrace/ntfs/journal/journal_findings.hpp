#pragma once

#include <span>

#include "coldtrace/ntfs/journal/change_journal.hpp"

namespace coldtrace::ntfs {

// Which journals a volume has, as findings whose codes docs/findings.md has: `journal-deleted`,
// unless deleted ones are read too, and `journal-none`. `offset` is where the volume starts.
void note_journals(std::span<const ChangeJournal> journals, bool reads_deleted, u64 offset,
                   core::Findings& findings);

}  // namespace coldtrace::ntfs
