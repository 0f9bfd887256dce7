#include "tracefile/compression/xpress.hpp"

#include <algorithm>
#include <bit>

#include "coldtrace/core/match_copy.hpp"

namespace coldtrace::tracefile {
namespace {

using core::copy_block;
using core::copy_match;
using core::copy_one_block;
using core::copy_spoils;
using core::Fault;

constexpr std::size_t min_match = 3;
constexpr unsigned flag_bits = 32;
constexpr u32 second_nibble = 0x10;

// What one step of the fast path may read: literals, a flag word or a match with all its length
// bytes. What it may write before it looks at the length of a match.
constexpr std::ptrdiff_t read_ahead = 64;
constexpr std::ptrdiff_t write_ahead = 2 * std::size_t{flag_bits} + 2 * copy_spoils;

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

class Decoder {
 public:
  Decoder(core::ByteView in, std::span<std::byte> out, u64 offset)
      : begin_{in.data()},
        in_{in.data()},
        in_end_{in.data() + in.size()},
        out_begin_{out.data()},
        out_{out.data()},
        out_end_{out.data() + out.size()},
        offset_{offset} {}

  core::Decompressed run() {
    while (out_ != out_end_ && in_ != in_end_ && state_ == State::running) {
      fast();
      if (flags_left_ > 0 || next_flags()) item();
    }
    return {static_cast<std::size_t>(out_ - out_begin_), state_ == State::damaged, error_};
  }

 private:
  enum class State : u8 { running, ended, damaged };

  std::size_t in_left() const { return static_cast<std::size_t>(in_end_ - in_); }
  std::size_t out_left() const { return static_cast<std::size_t>(out_end_ - out_); }

  // Items as long as neither end is near, with one check a match. Leaves what is odd to item().
  void fast() {
    if (in_end_ - in_ < read_ahead || out_end_ - out_ < write_ahead) return;
    const std::byte* in = in_;
    std::byte* out = out_;
    const std::byte* const in_safe = in_end_ - read_ahead;
    std::byte* const out_safe = out_end_ - write_ahead;
    // Flags not yet used, from the top, and behind them a one.
    u64 flags = u64{flags_} << 32 | u64{1} << (63 - flags_left_);
    u32 nibbles = nibbles_;
    while (in <= in_safe && out <= out_safe) {
      const auto literals = static_cast<std::size_t>(std::countl_zero(flags));
      copy_one_block(out, in);
      if (literals > copy_block) copy_one_block(out + copy_block, in + copy_block);
      in += literals;
      out += literals;
      flags <<= literals;
      if (flags << 1 == 0) {
        flags = u64{load<u32>(in)} << 32 | u64{1} << 31;
        in += sizeof(u32);
        continue;
      }
      const u32 head = load<u32>(in);  // the match, and a byte that may belong to it
      const std::size_t distance = (head >> 3 & 0x1fffU) + 1;
      std::size_t length = head & 7U;
      // Without branches: which matches are long is not to be foreseen.
      const u32 is_long = length == 7 ? ~u32{0} : 0;
      const u32 is_second = nibbles != 0 ? ~u32{0} : 0;
      const u32 pair = head >> 16 & 0xffU;
      const u32 nibble = ((nibbles & is_second) | (pair & ~is_second)) & 0xfU & is_long;
      const u32 other = (second_nibble | pair >> 4) & ~is_second;
      const u32 next_nibbles = (other & is_long) | (nibbles & ~is_long);
      const std::byte* next = in + sizeof(u16) + (is_long & ~is_second & 1U);
      length += nibble + min_match;
      if (nibble == 15) {
        const auto more = std::to_integer<std::size_t>(*next++);
        if (more < 255) {
          length += more;
        } else {
          length = load<u16>(next) + min_match;
          next += sizeof(u16);
          if (length < 15 + 7 + min_match) break;
        }
      }
      if (distance > static_cast<std::size_t>(out - out_begin_) ||
          length > static_cast<std::size_t>(out_end_ - out) - copy_spoils)
        break;
      copy_match(out, distance, length);
      in = next;
      nibbles = next_nibbles;
      out += length;
      flags <<= 1;
    }
    const auto end_mark = std::countr_zero(flags);
    flags_left_ = 63 - static_cast<unsigned>(end_mark);
    flags_ = static_cast<u32>((flags ^ u64{1} << end_mark) >> 32);
    nibbles_ = nibbles;
    in_ = in;
    out_ = out;
  }

  bool next_flags() {
    if (in_left() < sizeof(u32)) return damaged("flags", sizeof(u32), in_left());
    flags_ = take<u32>();
    flags_left_ = flag_bits;
    return true;
  }

  template <class T>
  T take() {
    const T value = load<T>(in_);
    in_ += sizeof(T);
    return value;
  }

  void item() {
    if (out_ == out_end_ || in_ == in_end_) {
      state_ = State::ended;
      return;
    }
    if (flags_ >> 31 == 0)
      *out_++ = *in_++;
    else if (!match())
      return;
    flags_ <<= 1;
    --flags_left_;
  }

  bool match() {
    if (in_left() < sizeof(u16)) return damaged("match", sizeof(u16), in_left());
    const auto token = take<u16>();
    const std::size_t distance = (token >> 3) + 1U;
    std::size_t length = token & 7U;
    if (length == 7 && !long_length(length)) return false;
    length += min_match;
    const auto behind = static_cast<std::size_t>(out_ - out_begin_);
    if (distance > behind) return damaged("match distance", behind, distance);
    length = std::min(length, out_left());
    if (out_left() - length >= copy_spoils) {
      copy_match(out_, distance, length);
      out_ += length;
    } else {
      for (; length > 0; --length, ++out_) *out_ = *(out_ - distance);
    }
    return true;
  }

  // Two long matches share a byte of nibbles; longer ones have a byte, two or four more.
  bool long_length(std::size_t& length) {
    if (nibbles_ == 0) {
      if (in_left() < 1) return damaged("length", 1, 0);
      const auto pair = std::to_integer<unsigned>(*in_++);
      length = pair & 0xfU;
      nibbles_ = second_nibble | pair >> 4;
    } else {
      length = nibbles_ & 0xfU;
      nibbles_ = 0;
    }
    if (length == 15) {
      if (in_left() < 1) return damaged("length", 1, 0);
      length = std::to_integer<std::size_t>(*in_++);
      if (length == 255) {
        if (in_left() < sizeof(u16)) return damaged("length", sizeof(u16), in_left());
        length = take<u16>();
        if (length == 0) {
          if (in_left() < sizeof(u32)) return damaged("length", sizeof(u32), in_left());
          length = take<u32>();
        }
        if (length < 15 + 7) return damaged("length", 15 + 7, length);
        length -= 15 + 7;
      }
      length += 15;
    }
    length += 7;
    return true;
  }

  u64 place() const { return offset_ + static_cast<u64>(in_ - begin_); }

  bool damaged(core::Name field, u64 expected, u64 found) {
    state_ = State::damaged;
    error_ = {Fault::bad_value, place(), "XPRESS", field, expected, found};
    return false;
  }

  const std::byte* begin_;
  const std::byte* in_;
  const std::byte* in_end_;
  std::byte* out_begin_;
  std::byte* out_;
  std::byte* out_end_;
  u32 flags_ = 0;
  unsigned flags_left_ = 0;
  u32 nibbles_ = 0;  // with second_nibble: the length that the next long match has
  u64 offset_;
  State state_ = State::running;
  core::ParseError error_{Fault::bad_value, 0, "XPRESS", "", 0, 0};
};

}  // namespace

core::Decompressed decompress_xpress(core::ByteView compressed, std::span<std::byte> plain,
                                     u64 offset) {
  return Decoder{compressed, plain, offset}.run();
}

}  // namespace coldtrace::tracefile
