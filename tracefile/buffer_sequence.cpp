#include "tracefile/buffer_sequence.hpp"

#include <algorithm>

namespace coldtrace::tracefile {
namespace {

// Sessions that keep the last buffers only, or start a new file while they run.
// Source: evntrace.h, EVENT_TRACE_FILE_MODE_CIRCULAR, _NEWFILE, EVENT_TRACE_BUFFERING_MODE.
constexpr u32 starts_late = 0x2 | 0x8 | 0x400;

}  // namespace

void find_missing_buffers(BufferScan& scan, core::Findings& findings) {
  std::vector<const BufferEntry*> buffers;
  for (const auto& entry : scan.buffers) buffers.push_back(&entry);
  std::sort(buffers.begin(), buffers.end(),
            [](const BufferEntry* a, const BufferEntry* b) { return a->sequence < b->sequence; });
  const auto repeated = std::adjacent_find(
      buffers.begin(), buffers.end(),
      [](const BufferEntry* a, const BufferEntry* b) { return a->sequence == b->sequence; });
  if (buffers.empty() || repeated != buffers.end() || buffers.front()->sequence < 0) return;
  for (std::size_t i = 1; i < buffers.size(); ++i) {
    const auto& before = *buffers[i - 1];
    const auto& after = *buffers[i];
    if (after.sequence - before.sequence == 1) continue;
    if (before.offset == 0 && (scan.header.log_file_mode & starts_late) != 0) continue;
    findings.warning("gap-buffers-missing", after.offset, "buffers {} to {} are missing",
                     before.sequence + 1, after.sequence - 1);
    scan.gaps.push_back({Gap::Reason::buffers_missing, after.offset, 0,
                         before.events > 0 ? std::optional{before.last_time} : std::nullopt,
                         std::nullopt, static_cast<u64>(after.sequence - before.sequence - 1)});
  }
}

}  // namespace coldtrace::tracefile
