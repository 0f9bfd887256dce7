#include "coldtrace/core/xpress_huffman.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "coldtrace/core/match_copy.hpp"

namespace coldtrace::core {
namespace {

constexpr std::size_t table_size = 256;  // bytes: two code lengths each
constexpr std::size_t symbols = 512;
constexpr unsigned longest_code = 15;
constexpr std::size_t block_size = 0x10000;
constexpr std::size_t shortest_match = 3;

// Which symbol the next 15 bits start with, and how many of them it takes.
class Codes {
 public:
  Codes() : decode_(std::size_t{1} << longest_code) {}

  bool assign(ByteView lengths) {
    for (std::size_t i = 0; i < symbols; ++i) {
      const auto pair = std::to_integer<unsigned>(lengths[i / 2]);
      lengths_[i] = static_cast<u8>(i % 2 == 0 ? pair & 0xf : pair >> 4);
    }
    std::size_t at = 0;
    for (unsigned length = 1; length <= longest_code; ++length) {
      const std::size_t span = std::size_t{1} << (longest_code - length);
      for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
        if (lengths_[symbol] != length) continue;
        if (span > decode_.size() - at) return false;
        std::fill_n(decode_.begin() + static_cast<std::ptrdiff_t>(at), span,
                    static_cast<u16>(symbol));
        at += span;
      }
    }
    return at == decode_.size();
  }

  u16 symbol(u32 bits) const { return decode_[bits >> (32 - longest_code)]; }
  unsigned length(u16 symbol) const { return lengths_[symbol]; }

 private:
  std::vector<u16> decode_;
  std::array<u8, symbols> lengths_{};
};

// The bits come in 16-bit words; lengths lie as bytes among them. Words beyond the end are zero.
class Bits {
 public:
  explicit Bits(Reader& in) : in_{in} {
    window_ = static_cast<u32>(word()) << 16;
    window_ |= word();
  }
  u32 window() const { return window_; }
  // More bits were used than there are.
  bool exhausted() const { return used_ > words_ * 16; }

  void skip(unsigned count) {
    if (count == 0) return;
    used_ += count;
    window_ <<= count;
    spare_ -= static_cast<int>(count);
    if (spare_ < 0) {
      window_ |= static_cast<u32>(word()) << -spare_;
      spare_ += 16;
    }
  }

  u32 take(unsigned count) {
    const auto value = count == 0 ? 0 : window_ >> (32 - count);
    skip(count);
    return value;
  }

 private:
  u16 word() {
    if (in_.remaining() < 2) return 0;
    ++words_;
    return in_.read_u16("bits");
  }

  Reader& in_;
  u32 window_ = 0;
  int spare_ = 16;
  u64 used_ = 0;
  u64 words_ = 0;
};

std::size_t long_length(Reader& in) {
  const auto at = in.offset();
  std::size_t length = in.read_u8("length");
  if (length < 255) return length + 15;
  length = in.read_u16("length");
  if (length == 0) length = in.read_u32("length");
  if (length < 15) in.reject(Fault::bad_value, at, "length", 15, length);
  return length;
}

// Plain bytes [at, end); a match may reach beyond the block's end. Returns where it stopped.
std::size_t read_block(Reader& in, const Codes& codes, std::span<std::byte> plain, std::size_t at,
                       std::size_t end) {
  Bits bits{in};
  while (at < end && in.ok()) {
    const auto symbol = codes.symbol(bits.window());
    bits.skip(codes.length(symbol));
    if (bits.exhausted()) {
      in.reject(Fault::truncated, in.offset(), "bits", end - at, 0);
      break;
    }
    if (symbol < 256) {
      plain[at++] = static_cast<std::byte>(symbol);
      continue;
    }
    // Either the end of the stream or the shortest match, which the last of the room can be.
    const bool may_be_end = in.remaining() == 0 && bits.window() == 0;
    if (symbol == 256 && may_be_end && plain.size() - at != shortest_match) break;
    std::size_t length = symbol & 0xfU;
    if (length == 15) length = long_length(in);
    const auto distance_bits = static_cast<unsigned>(symbol - 256) / 16;
    const std::size_t distance = (std::size_t{1} << distance_bits) + bits.take(distance_bits);
    if (distance > at) {
      in.reject(Fault::bad_value, in.offset(), "match distance", at, distance);
      break;
    }
    const auto size = std::min(length + shortest_match, plain.size() - at);
    const auto stop = at + size;
    if (plain.size() - stop >= copy_spoils) {
      copy_match(plain.data() + at, distance, size);
      at = stop;
    }
    for (; at < stop; ++at) plain[at] = plain[at - distance];
  }
  return at;
}

}  // namespace

Decompressed decompress_xpress_huffman(ByteView compressed, std::span<std::byte> plain,
                                       u64 offset) {
  Reader in{compressed, "XPRESS_HUFF", offset};
  Codes codes;
  std::size_t at = 0;
  while (at < plain.size() && in.remaining() > 0) {
    const auto place = in.offset();
    const auto lengths = in.take(table_size, "code lengths");
    if (!in.ok()) break;
    if (!codes.assign(lengths)) {
      in.reject(Fault::bad_value, place, "code lengths", 0, 0);
      break;
    }
    const auto end = std::min(plain.size(), (at / block_size + 1) * block_size);
    const auto reached = read_block(in, codes, plain, at, end);
    if (reached == at) break;
    at = reached;
  }
  return {at, !in.ok(), in.error()};
}

}  // namespace coldtrace::core
