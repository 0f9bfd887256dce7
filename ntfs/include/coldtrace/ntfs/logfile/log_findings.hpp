#pragma once

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/logfile/log_file.hpp"
#include "coldtrace/ntfs/logfile/log_history.hpp"

namespace coldtrace::ntfs {

// The state of a log and its missing parts, as findings; docs/findings.md describes their codes.

// `log-unread`: for a volume without a LogStream.
void note_no_log(const Volume& volume, core::Findings& findings);
// `log-erased`, `log-restart` or `log-dirty`.
void note_log_state(const LogFile& log, core::Findings& findings);
// `log-lost`.
void note_log_history(const LogHistory& history, core::Findings& findings);

}  // namespace coldtrace::ntfs
