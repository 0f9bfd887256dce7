#include "tracefile/etl/buffer_losses.hpp"

#include <algorithm>
#include <map>

namespace coldtrace::tracefile {

void mark_losses(BufferScan& scan) {
  constexpr u16 says_loss = BufferHeader::events_lost | BufferHeader::buffer_lost;
  const auto behind = offsets_behind_missing(scan);
  std::vector<BufferEntry*> buffers;
  for (auto& entry : scan.buffers) buffers.push_back(&entry);
  std::sort(buffers.begin(), buffers.end(), is_written_before);
  struct Processor {
    std::size_t holes = 0;  // that came before its last buffer
    bool ends_in_damage = false;
  };
  std::map<u16, Processor> processors;
  std::size_t holes = 0;
  for (auto* const entry : buffers) {
    holes += behind.count(entry->offset);
    if (!entry->processor_known) {
      ++holes;
      continue;
    }
    auto& processor = processors[entry->processor];
    entry->follows_loss =
        processor.ends_in_damage || processor.holes < holes || (entry->flags & says_loss) != 0;
    processor = {holes, entry->ends_in_damage};
  }
}

void add_unplaced_losses(BufferScan& scan) {
  const auto is_marked = [&](u16 flag) {
    return std::any_of(scan.buffers.begin(), scan.buffers.end(),
                       [&](const BufferEntry& entry) { return (entry.flags & flag) != 0; });
  };
  const auto& header = scan.header;
  u64 missing = 0;  // whose place the numbers of buffers tell; those of a cut end were written
  for (const auto& gap : scan.gaps)
    if (gap.reason == Gap::Reason::buffers_missing && gap.offset <= scan.buffers.back().offset)
      missing += gap.buffers;
  if (header.events_lost > 0 && !is_marked(BufferHeader::events_lost | BufferHeader::buffer_lost))
    scan.gaps.push_back(
        {Gap::Reason::events_lost, 0, 0, std::nullopt, std::nullopt, 0, header.events_lost});
  if (header.buffers_lost > missing && !is_marked(BufferHeader::buffer_lost))
    scan.gaps.push_back({Gap::Reason::buffers_lost, 0, 0, std::nullopt, std::nullopt,
                         header.buffers_lost - missing});
}

}  // namespace coldtrace::tracefile
