#include "coldtrace/core/lznt1.hpp"

#include <algorithm>

namespace coldtrace::core {
namespace {

constexpr std::size_t chunk_size = 4096;

// Bits of a match's length field when `position` bytes of the chunk are written: the nearer the
// chunk's start, the fewer bits the distance needs.
unsigned length_bits(std::size_t position) {
  unsigned bits = 12;
  for (std::size_t reach = 0x10; reach < position && bits > 4; reach <<= 1) --bits;
  return bits;
}

// One compressed chunk; returns the plain bytes written.
std::size_t read_chunk(Reader& in, std::span<std::byte> plain) {
  std::size_t at = 0;
  while (in.ok() && in.remaining() > 0 && at < plain.size()) {
    auto flags = in.read_u8("flags");
    for (unsigned i = 0; i < 8 && in.ok() && in.remaining() > 0 && at < plain.size(); ++i) {
      const bool match = (flags & 1U) != 0;
      flags = static_cast<u8>(flags >> 1);
      if (!match) {
        plain[at++] = std::byte{in.read_u8("literal")};
        continue;
      }
      const auto place = in.offset();
      const auto token = in.read_u16("match");
      if (!in.ok()) break;
      const auto bits = length_bits(at);
      const std::size_t length = (token & ((1U << bits) - 1)) + 3;
      const std::size_t distance = (static_cast<std::size_t>(token) >> bits) + 1;
      if (distance > at) {
        in.reject(Fault::bad_value, place, "match distance", at, distance);
        break;
      }
      const auto end = at + std::min(length, plain.size() - at);
      for (; at < end; ++at) plain[at] = plain[at - distance];
    }
  }
  return at;
}

}  // namespace

Decompressed decompress_lznt1(ByteView compressed, std::span<std::byte> plain, u64 offset) {
  Reader in{compressed, "LZNT1 chunk", offset};
  std::size_t at = 0;
  while (at < plain.size() && in.remaining() >= 2) {
    const auto header = in.read_u16("header");
    if (header == 0) break;  // end of the stream
    const std::size_t size = (header & 0xfffU) + 1;
    const auto place = in.offset();
    const auto chunk = in.take(size, "data");
    if (!in.ok()) break;
    const auto room = plain.subspan(at, std::min(chunk_size, plain.size() - at));
    if ((header & 0x8000U) == 0) {
      const auto count = std::min(size, room.size());
      std::copy_n(chunk.begin(), count, room.begin());
      at += count;
      continue;
    }
    Reader inner{chunk, "LZNT1 chunk", place};
    at += read_chunk(inner, room);
    if (!inner.ok()) return {at, true, inner.error()};
  }
  return {at, !in.ok(), in.error()};
}

}  // namespace coldtrace::core
