#include "tracefile/xpress.hpp"

#include <algorithm>
#include <bit>

namespace coldtrace::tracefile {
namespace {

using core::Fault;

constexpr std::size_t min_match = 3;
// Copies move this many bytes at once where input and output have the room.
constexpr std::size_t stride = 32;
constexpr std::size_t word = 8;

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
      if (in_left() < sizeof(u32)) {
        damaged("flags", sizeof(u32), in_left());
        break;
      }
      group(load<u32>());
    }
    return {static_cast<std::size_t>(out_ - out_begin_), state_ == State::damaged, error_};
  }

 private:
  enum class State : u8 { running, ended, damaged };

  std::size_t in_left() const { return static_cast<std::size_t>(in_end_ - in_); }
  std::size_t out_left() const { return static_cast<std::size_t>(out_end_ - out_); }

  template <class T>
  T load() {
    T value;
    std::memcpy(&value, in_, sizeof(T));
    in_ += sizeof(T);
    return value;
  }

  // The 32 items of one flag word.
  void group(u32 flags) {
    unsigned left = 32;
    while (left > 0) {
      const auto literals = std::min(static_cast<unsigned>(std::countl_zero(flags)), left);
      if (literals > 0) {
        if (!copy_literals(literals)) return;
        left -= literals;
        if (left == 0) break;
        flags <<= literals;
      }
      if (out_ == out_end_ || in_ == in_end_) {
        state_ = State::ended;
        return;
      }
      if (!match()) return;
      flags <<= 1;
      --left;
    }
  }

  bool copy_literals(std::size_t count) {
    if (in_left() >= stride && out_left() >= stride) {
      std::memcpy(out_, in_, stride);
      in_ += count;
      out_ += count;
      return true;
    }
    const auto possible = std::min({count, in_left(), out_left()});
    std::copy_n(in_, possible, out_);
    in_ += possible;
    out_ += possible;
    if (possible < count) state_ = State::ended;
    return possible == count;
  }

  bool match() {
    if (in_left() < sizeof(u16)) return damaged("match", sizeof(u16), in_left());
    const auto token = load<u16>();
    const std::size_t distance = (token >> 3) + 1U;
    std::size_t length = token & 7U;
    if (length == 7 && !long_length(length)) return false;
    length += min_match;
    const auto behind = static_cast<std::size_t>(out_ - out_begin_);
    if (distance > behind) return damaged("match distance", behind, distance);
    copy_match(distance, std::min(length, out_left()));
    return true;
  }

  // Two long matches share a byte of nibbles; longer ones have a byte, two or four more.
  bool long_length(std::size_t& length) {
    if (nibble_ == nullptr) {
      if (in_left() < 1) return damaged("length", 1, 0);
      nibble_ = in_++;
      length = std::to_integer<std::size_t>(*nibble_ & std::byte{0xf});
    } else {
      length = std::to_integer<std::size_t>(*nibble_ >> 4);
      nibble_ = nullptr;
    }
    if (length == 15) {
      if (in_left() < 1) return damaged("length", 1, 0);
      length = std::to_integer<std::size_t>(*in_++);
      if (length == 255) {
        if (in_left() < sizeof(u16)) return damaged("length", sizeof(u16), in_left());
        length = load<u16>();
        if (length == 0) {
          if (in_left() < sizeof(u32)) return damaged("length", sizeof(u32), in_left());
          length = load<u32>();
        }
        if (length < 15 + 7) return damaged("length", 15 + 7, length);
        length -= 15 + 7;
      }
      length += 15;
    }
    length += 7;
    return true;
  }

  void copy_match(std::size_t distance, std::size_t length) {
    const std::byte* from = out_ - distance;
    std::byte* const end = out_ + length;
    if (out_left() < length + stride) {
      while (out_ < end) *out_++ = *from++;
      return;
    }
    if (distance >= stride) {
      for (; out_ < end; out_ += stride, from += stride) std::memcpy(out_, from, stride);
    } else if (distance == 1) {
      std::memset(out_, std::to_integer<int>(*from), length);
    } else {
      // A short pattern repeats at every multiple of its length too.
      if (distance < word) {
        for (std::size_t i = 0; i < word; ++i) *out_++ = *from++;
        from = out_ - distance * ((word + distance - 1) / distance);
      }
      for (; out_ < end; out_ += word, from += word) std::memcpy(out_, from, word);
    }
    out_ = end;
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
  const std::byte* nibble_ = nullptr;
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
