#include "tracefile/etl/buffer_tail.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/tracefile/buffer_walker.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 header_size = BufferHeader::size_on_disk;

bool is_filler(const core::ImageSource& source, u64 at) {
  std::array<std::byte, 4> word;
  return source.read_at(at, word) && core::load<u32>(word, 0) == 0xffffffffU;
}

}  // namespace

u32 find_filled(const core::ImageSource& source, const BufferEntry& entry) {
  const u32 claimed = entry.filled;
  const u32 tail = std::max(claimed, header_size) & ~7U;  // records lie at multiples of eight
  if (tail + 8 > entry.size || is_filler(source, entry.offset + tail)) return claimed;
  auto whole = entry;
  whole.filled = entry.size;
  const auto buffer = load_buffer(source, whole, Compression::none);
  const auto header = read_buffer_header(buffer->bytes, entry.offset);
  if (buffer->damaged || !header) return claimed;
  // A buffer without events may have those of an earlier use, and nothing tells their age.
  if (claimed == header_size && core::load<u32>(buffer->bytes, 0x04) == claimed) return claimed;
  BufferWalker walker{
      buffer->bytes, {entry.offset, false, std::nullopt}, header_size, OnDamage::stop};
  std::optional<i64> latest;
  u32 filled = claimed;
  while (walker.next()) {
    const auto& event = walker.event();
    const bool timed = has_time_of_its_own(event);
    if (event.offset + event.size > claimed) {
      // After a merge the flush is in another clock, and the first buffer has none.
      const bool knows_flush = header->timestamp != 0 && header->timestamp >= latest.value_or(0);
      const bool is_later = latest ? event.timestamp >= *latest : knows_flush;
      const bool is_earlier = !knows_flush || event.timestamp <= header->timestamp;
      if (!timed || !is_later || !is_earlier) break;
      filled = std::min(walker.offset(), entry.size);
    }
    if (timed) latest = std::max(latest.value_or(event.timestamp), event.timestamp);
  }
  return filled;
}

}  // namespace coldtrace::tracefile
