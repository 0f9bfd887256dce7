#include "coldtrace/tracefile/etl/buffer_scan.hpp"

#include <tuple>

namespace coldtrace::tracefile {

std::optional<u16> processor_of(const BufferEntry& entry, const BufferScan& scan) {
  if ((scan.header.log_file_mode & LogfileHeader::no_per_processor) != 0) return std::nullopt;
  return entry.processor;
}

bool is_written_before(const BufferEntry* a, const BufferEntry* b) {
  return std::tie(a->sequence, a->offset) < std::tie(b->sequence, b->offset);
}

std::set<u64> offsets_behind_missing(const BufferScan& scan) {
  std::set<u64> offsets;
  for (const auto& gap : scan.gaps)
    if (gap.reason == Gap::Reason::buffers_missing) offsets.insert(gap.offset);
  return offsets;
}

}  // namespace coldtrace::tracefile
