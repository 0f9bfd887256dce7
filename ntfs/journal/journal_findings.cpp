#include "coldtrace/ntfs/journal/journal_findings.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {

void note_journals(std::span<const ChangeJournal> journals, bool reads_deleted, u64 offset,
                   core::Findings& findings) {
  const auto live = std::ranges::count_if(journals, &ChangeJournal::in_use);
  const auto deleted = std::ssize(journals) - live;
  if (deleted > 0 && !reads_deleted)
    findings.info(
        "journal-deleted", std::nullopt, "{} hold",
        core::counted(static_cast<u64>(deleted),
                      "deleted journal left remnants; --deleted reads what its clusters",
                      "deleted journals left remnants; --deleted reads what their clusters"));
  if (live == 0) findings.info("journal-none", offset, "the volume has no change journal");
}

}  // namespace coldtrace::ntfs
