#include "coldtrace/tracefile/etl/buffer_scan.hpp"

#include <tuple>

namespace coldtrace::tracefile {

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
