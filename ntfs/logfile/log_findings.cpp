#include "coldtrace/ntfs/logfile/log_findings.hpp"

#include "coldtrace/core/text.hpp"

namespace coldtrace::ntfs {

void note_no_log(const Volume& volume, core::Findings& findings) {
  findings.warning("log-unread", volume.mft().offset_of(LogStream::record),
                   "the clusters of the volume's $LogFile are unknown");
}

void note_log_state(const LogFile& log, core::Findings& findings) {
  const auto offset = log.stream().offset_of(0);
  if (log.erased()) {
    findings.info("log-erased", offset,
                  "$LogFile is erased, as Linux drivers leave it: it has no records");
  } else if (log.restart() == nullptr) {
    findings.warning("log-restart", offset,
                     "$LogFile has no restart page that can be read: its records cannot be found");
  } else if (!log.restart()->clean()) {
    findings.info("log-dirty", offset,
                  "the volume was not unmounted: $LogFile has changes that $MFT may lack");
  }
}

void note_log_history(const LogHistory& history, core::Findings& findings) {
  if (history.lost > 0)
    findings.info("log-lost", std::nullopt, "{} missing",
                  core::counted(history.lost, "record of $LogFile continues in pages that are",
                                "records of $LogFile continue in pages that are"));
}

}  // namespace coldtrace::ntfs
