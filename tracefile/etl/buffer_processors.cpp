#include "tracefile/etl/buffer_processors.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/events/clock.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u16 usual_buffer = 0;  // BufferType of what a processor fills one after the other
constexpr u32 least_events = 3;

bool numbers_repeat(const BufferScan& scan) {
  std::vector<i64> numbers;
  for (const auto& entry : scan.buffers) numbers.push_back(entry.sequence);
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
}

// Whether two buffers, `a` the earlier one, have more than half of the shorter one's time in
// common. An event that was interrupted while it was logged can be in the buffer behind its own.
bool overlap(const BufferEntry& a, const BufferEntry& b) {
  const auto shorter = std::min(a.end_time - a.begin_time, b.end_time - b.begin_time);
  const auto common = std::min(a.end_time, b.end_time) - b.begin_time;
  return shorter > 0 && common > shorter / 2;
}

void find_overlaps(BufferScan& scan, core::Findings& findings) {
  std::map<u16, std::vector<BufferEntry*>> processors;
  for (auto& entry : scan.buffers)
    if (entry.processor_known && entry.type == usual_buffer && entry.timed_events >= least_events &&
        entry.begin_time >= 0 && entry.begin_time < entry.end_time)
      processors[entry.processor].push_back(&entry);
  for (auto& [processor, buffers] : processors) {
    std::sort(buffers.begin(), buffers.end(), [](const BufferEntry* a, const BufferEntry* b) {
      return std::tie(a->begin_time, a->offset) < std::tie(b->begin_time, b->offset);
    });
    BufferEntry* latest = nullptr;  // of those so far, the one that ends last
    for (auto* const buffer : buffers) {
      if (latest != nullptr && overlap(*latest, *buffer)) {
        findings.warning("buffer-processor", buffer->offset,
                         "two buffers of processor {} overlap in time, here and at 0x{:x}: the "
                         "processor number of one, or times in it, must be damaged",
                         processor, latest->offset);
        latest->processor_known = buffer->processor_known = false;
      }
      if (latest == nullptr || buffer->end_time > latest->end_time) latest = buffer;
    }
  }
}

}  // namespace

void check_processors(BufferScan& scan, core::Findings& findings) {
  const auto& header = scan.header;
  if (!scan.has_header || (header.log_file_mode & LogfileHeader::no_per_processor) != 0) return;
  for (auto& entry : scan.buffers) {
    if (header.processors == 0 || entry.processor < header.processors) continue;
    findings.warning("buffer-processor", entry.offset,
                     "a buffer is of processor {}, but the header counts {}", entry.processor,
                     core::counted(header.processors, "processor", "processors"));
    entry.processor_known = false;
  }
  // Files put together from several sessions have buffers of all of these, and a system clock may
  // have been set back.
  if (header.clock_type == static_cast<u32>(ClockType::system_time) || numbers_repeat(scan)) return;
  find_overlaps(scan, findings);
}

}  // namespace coldtrace::tracefile
