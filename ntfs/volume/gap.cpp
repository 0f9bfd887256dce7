#include "coldtrace/ntfs/gap.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::ntfs {

namespace {

bool is_behind(const Gap& last, const Gap& gap) {
  if (!last.offset || !gap.offset) return !last.offset && !gap.offset;
  return core::saturating_add(*last.offset, last.length) == *gap.offset;
}

}  // namespace

void append_gap(std::vector<Gap>& gaps, const Gap& gap) {
  constexpr auto records = Gap::Lost::records;
  if (!gaps.empty()) {
    auto& last = gaps.back();
    if (last.lost == records && gap.lost == records && is_behind(last, gap) &&
        core::saturating_add(last.first, last.count) == gap.first) {
      last.length += gap.length;
      last.count += gap.count;
      return;
    }
  }
  gaps.push_back(gap);
}

void LostRecords::add(const Gap& gap) {
  if (gap.lost != Gap::Lost::records || gap.count == 0) return;
  u64 first = gap.first;
  u64 end = core::saturating_add(first, gap.count);
  auto next = ranges_.upper_bound(end);
  while (next != ranges_.begin() && std::prev(next)->second >= first) {
    --next;
    first = std::min(first, next->first);
    end = std::max(end, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace(first, end);
}

bool LostRecords::contain(u64 record) const {
  const auto behind = ranges_.upper_bound(record);
  return behind != ranges_.begin() && std::prev(behind)->second > record;
}

}  // namespace coldtrace::ntfs
