#include "coldtrace/tracefile/names/stack_table.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::tracefile {
namespace {

constexpr unsigned known_frames_bits = 16;

}  // namespace

bool StackTable::add(const NameRecord& record, const u64* frames) {
  const bool defines = record.verb != NameRecord::Verb::begins;
  const bool kept = record.count <= most_frames;
  const auto count = static_cast<u16>(kept && defines ? record.count : 0);
  entries_.push_back({record.key, record.time, add_frames({frames, count}), count, defines});
  return kept;
}

// Each rundown tells of all stacks, and so does each file of several. Some may be kept twice.
u32 StackTable::add_frames(std::span<const u64> frames) {
  if (known_frames_.empty()) known_frames_.resize(std::size_t{1} << known_frames_bits);
  u64 hash = frames.size();
  for (const auto frame : frames) hash = (hash ^ frame ^ hash >> 32U) * 0x9e37'79b9'7f4a'7c15U;
  auto& known = known_frames_[hash >> (64U - known_frames_bits)];
  if (frames_.size() >= frames.size() && known <= frames_.size() - frames.size() &&
      std::equal(frames.begin(), frames.end(), frames_.begin() + known))
    return known;
  known = static_cast<u32>(frames_.size());
  frames_.insert(frames_.end(), frames.begin(), frames.end());
  return known;
}

void StackTable::drop(const NameRecord& record) {
  dropped_first_ = std::min(dropped_first_.value_or(record.time), record.time);
  dropped_last_ = std::max(dropped_last_.value_or(record.time), record.time);
}

void StackTable::finish() {
  known_frames_ = {};
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
