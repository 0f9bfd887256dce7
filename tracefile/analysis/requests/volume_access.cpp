#include "coldtrace/trace_analysis/requests/volume_access.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::trace_analysis {

void VolumeAccess::add(u64 at, const DiskIo::Row& row) {
  if (at < begin_ || at - begin_ >= size_) return;
  const bool reads = row.request.action == DiskAction::read;
  if (!reads && row.request.action != DiskAction::write) return;
  const auto bytes = row.request.bytes.value_or(0);
  const auto count = [&](Sums& sums, u64 moved) {
    (reads ? sums.reads : sums.writes) += 1;
    auto& sum = reads ? sums.read : sums.written;
    sum = core::saturating_add(sum, moved);
  };
  count(all_, bytes);
  count(files_[row.file], bytes);
  at -= begin_;
  auto left = bytes;
  for (auto place = at / place_bytes_; left > 0 && place < places_.size(); ++place) {
    const auto here = std::min(left, place_bytes_ - at % place_bytes_);
    count(places_[place], here);
    at += here;
    left -= here;
  }
}

}  // namespace coldtrace::trace_analysis
