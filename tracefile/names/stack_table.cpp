#include "coldtrace/tracefile/names/stack_table.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::tracefile {

bool StackTable::add(const NameRecord& record, const u64* frames) {
  const bool defines = record.verb != NameRecord::Verb::begins;
  const bool kept = record.count <= most_frames;
  const auto count = static_cast<u16>(kept && defines ? record.count : 0);
  entries_.push_back({record.key, record.time, static_cast<u32>(frames_.size()), count, defines});
  frames_.insert(frames_.end(), frames, frames + count);
  return kept;
}

void StackTable::drop(const NameRecord& record) {
  dropped_first_ = std::min(dropped_first_.value_or(record.time), record.time);
  dropped_last_ = std::max(dropped_last_.value_or(record.time), record.time);
}

void StackTable::finish() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.key, a.time) < std::tie(b.key, b.time);
  });
}

std::optional<std::span<const u64>> StackTable::find(const Reference& reference) const {
  auto at = std::lower_bound(
      entries_.begin(), entries_.end(), reference, [](const Entry& entry, const Reference& wanted) {
        return std::tie(entry.key, entry.time) < std::tie(wanted.key, wanted.time);
      });
  // A key that is made at the time of the event is the event's.
  while (at != entries_.end() && at->key == reference.key && !at->defines &&
         at->time == reference.time)
    ++at;
  if (at == entries_.end() || at->key != reference.key || !at->defines || at->count == 0)
    return std::nullopt;
  const bool across_dropped =
      dropped_first_ && reference.time <= *dropped_last_ && *dropped_first_ <= at->time;
  const auto frames = std::span{frames_}.subspan(at->first, at->count);
  const bool of_kernel = frames.front() >> 63U != 0;
  if (across_dropped || of_kernel != reference.kernel.value_or(of_kernel)) return std::nullopt;
  return frames;
}

}  // namespace coldtrace::tracefile
