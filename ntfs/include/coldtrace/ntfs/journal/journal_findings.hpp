#pragma once

#include <span>

#include "coldtrace/ntfs/journal/change_journal.hpp"

namespace coldtrace::ntfs {

// Which journals a volume has, as findings; docs/findings.md describes their codes:
// `journal-deleted`, unless deleted ones are read too, and `journal-none`. `offset` is the start of
// the volume.
void note_journals(std::span<const ChangeJournal> journals, bool reads_deleted, u64 offset,
                   core::Findings& findings);

}  // namespace coldtrace::ntfs
