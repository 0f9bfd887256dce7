#include <cstdint>

#include "coldtrace/ntfs/logfile/log_history.hpp"

using namespace coldtrace;

// Any bytes as a copied $LogFile: records stand where their numbers lead, in their order, and
// events name records that there are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  const auto stream = ntfs::LogStream::of_file(image);
  core::Findings findings;
  auto log = ntfs::LogFile::read(stream, findings);
  if (log.restart() == nullptr) return 0;
  u64 last = 0;
  for (const auto& record : log.records()) {
    if (record.lsn < last || log.restart()->offset_of(record.lsn) != record.offset)
      __builtin_trap();
    if (record.offset >= size) __builtin_trap();
    last = record.lsn;
  }
  const auto history = ntfs::read_log_history(log, 4096, findings);
  if (history.actions + history.lost > log.records().size()) __builtin_trap();
  for (const auto& event : history.events) {
    if (event.evidence.empty()) __builtin_trap();
    for (const auto index : event.evidence)
      if (index >= log.records().size()) __builtin_trap();
    if (event.after) (void)ntfs::to_utf8(event.after->name());
    if (event.before) (void)ntfs::to_utf8(event.before->name());
  }
  return 0;
}
