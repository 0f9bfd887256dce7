#include "tracefile/etl/buffer_tail.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/tracefile/etl/buffer_walker.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 header_size = BufferHeader::size_on_disk;

bool is_filler(const core::ImageSource& source, u64 at) {
  std::array<std::byte, 4> word;
  return source.read_at(at, word) && core::load<u32>(word, 0) == 0xffffffffU;
}

BufferWalker walk(const Buffer& buffer, const BufferEntry& entry) {
  return {buffer.bytes, {entry.offset, false, std::nullopt}, header_size, OnDamage::pass_to_filler};
}

// Whether an event may follow others: it is no earlier than these, and no later than the flush.
class TailTimes {
 public:
  explicit TailTimes(i64 flush) : flush_{flush} {}

  void pass(const Event& event) {
    if (!has_time_of_its_own(event)) return;
    latest_ = passed_ ? std::max(latest_, event.timestamp) : event.timestamp;
    passed_ = true;
  }

  bool allow(const Event& event) const {
    // After a merge the flush is in another clock, and the first buffer has none.
    const bool knows_flush = flush_ != 0 && flush_ >= latest_;
    const bool is_later = passed_ ? event.timestamp >= latest_ : knows_flush;
    const bool is_earlier = !knows_flush || event.timestamp <= flush_;
    return has_time_of_its_own(event) && is_later && is_earlier;
  }

 private:
  i64 flush_;
  bool passed_ = false;
  i64 latest_ = 0;  // of those that passed
};

}  // namespace

BufferTail find_tail(const core::ImageSource& source, const BufferEntry& entry) {
  const u32 claimed = entry.filled;
  const u32 tail = std::max(claimed, header_size) & ~7U;  // records lie at multiples of eight
  if (tail + 8 > entry.size || is_filler(source, entry.offset + tail)) return {claimed, false};
  auto whole = entry;
  whole.filled = entry.size;
  const auto buffer = load_buffer(source, whole, Compression::none);
  const auto header = read_buffer_header(buffer->bytes, entry.offset);
  if (buffer->damaged || !header) return {claimed, false};
  // A buffer without events may have those of an earlier use, and nothing tells their age.
  if (claimed == header_size && core::load<u32>(buffer->bytes, 0x04) == claimed)
    return {claimed, true};
  auto walker = walk(*buffer, entry);
  TailTimes times{header->timestamp};
  u32 filled = claimed;
  while (walker.next()) {
    const auto& event = walker.event();
    if (event.offset + event.size > claimed) {
      const auto& damage = walker.damage();
      const bool follows = filled > claimed || damage.empty() || damage.back().offset < claimed;
      if (!follows || !times.allow(event)) break;
      filled = std::min(walker.offset(), entry.size);
    }
    times.pass(event);
  }
  const bool is_rest = filled + 8 <= entry.size && !is_filler(source, entry.offset + filled);
  return {filled, is_rest};
}

u32 find_end(const core::ImageSource& source, const BufferEntry& entry) {
  const auto buffer = load_buffer(source, entry, Compression::none);
  auto walker = walk(*buffer, entry);
  while (walker.next()) {
  }
  return std::max(walker.offset(), header_size);
}

}  // namespace coldtrace::tracefile
