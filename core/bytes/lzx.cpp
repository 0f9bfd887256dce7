#include "coldtrace/core/lzx.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace coldtrace::core {
namespace {

constexpr unsigned longest_code = 16;
constexpr std::size_t slots = 30;  // of offsets in a window of 32 KiB
constexpr std::size_t literals = 256;
constexpr std::size_t lengths_in_main = 8;
constexpr std::size_t main_symbols = literals + slots * lengths_in_main;
constexpr std::size_t length_symbols = 249;
constexpr std::size_t pre_symbols = 20;
constexpr std::size_t aligned_symbols = 8;
constexpr std::size_t shortest_match = 2;

enum class BlockType : u8 { verbatim = 1, aligned = 2, uncompressed = 3 };

// Bits from the top of 16-bit words; words beyond the end are zero.
class Bits {
 public:
  explicit Bits(ByteView bytes) : bytes_{bytes} {}

  u32 peek(unsigned count) {
    while (held_ < count) {
      const auto word = load<u16>(bytes_, at_);
      at_ += word_size;
      if (!word) missing_ += word_bits;
      window_ = window_ << word_bits | word.value_or(0);
      held_ += word_bits;
    }
    return static_cast<u32>(window_ >> (held_ - count)) & ((u32{1} << count) - 1);
  }
  void skip(unsigned count) { held_ -= count; }
  u32 take(unsigned count) {
    if (count == 0) return 0;
    const auto value = peek(count);
    skip(count);
    return value;
  }

  // Goes on behind the word of the next bit, which counts as one that is begun.
  void align() {
    peek(1);
    held_ -= held_ % word_bits == 0 ? word_bits : held_ % word_bits;
    at_ -= held_ / word_bits * word_size;
    held_ = 0;
  }
  // Where the next word is, once aligned.
  u64 position() const { return at_; }
  void go_on_at(u64 position) { at_ = position; }

  // More bits were used than there are.
  bool exhausted() const { return missing_ > held_; }

 private:
  static constexpr unsigned word_bits = 16;
  static constexpr u64 word_size = 2;

  ByteView bytes_;
  u64 at_ = 0;  // a few words behind the end at most
  u64 window_ = 0;
  unsigned held_ = 0;
  unsigned missing_ = 0;
};

// A canonical code: the shorter ones first, those of one length by their symbols.
template <std::size_t Symbols>
class Code {
 public:
  // False for lengths that are not a whole code. None at all is a code that is not used.
  bool assign(std::span<const u8, Symbols> lengths) {
    std::array<u16, longest_code + 1> counts{};
    for (const auto length : lengths) ++counts[length];
    is_empty_ = counts[0] == Symbols;
    counts[0] = 0;
    std::array<u16, longest_code + 1> next{};
    u32 code = 0;
    u16 index = 0;
    for (unsigned length = 1; length <= longest_code; ++length) {
      first_[length] = static_cast<i32>(index) - static_cast<i32>(code);
      next[length] = index;
      index = static_cast<u16>(index + counts[length]);
      code += counts[length];
      limit_[length] = code << (longest_code - length);
      if (code > u32{1} << length) return false;
      code <<= 1;
    }
    if (!is_empty_ && limit_[longest_code] != u32{1} << longest_code) return false;
    for (std::size_t symbol = 0; symbol < Symbols; ++symbol)
      if (lengths[symbol] != 0) symbols_[next[lengths[symbol]]++] = static_cast<u16>(symbol);
    fill_short();
    return true;
  }

  bool is_empty() const { return is_empty_; }

  // Of a code that is not empty.
  u16 read(Bits& bits) const {
    const auto window = bits.peek(longest_code);
    const auto& known = short_[window >> (longest_code - short_bits)];
    if (known.length != 0) {
      bits.skip(known.length);
      return known.symbol;
    }
    unsigned length = short_bits + 1;
    while (length < longest_code && window >= limit_[length]) ++length;
    bits.skip(length);
    return symbol_of(window >> (longest_code - length), length);
  }

 private:
  static constexpr unsigned short_bits = 9;
  struct Short {
    u16 symbol;
    u16 length;  // 0: the code is longer
  };

  u16 symbol_of(u32 code, unsigned length) const {
    const i32 index = first_[length] + static_cast<i32>(code);
    return symbols_[static_cast<std::size_t>(index)];
  }
  void fill_short() {
    short_.fill({});
    if (is_empty_) return;
    unsigned length = 1;
    for (u32 i = 0; i < short_.size(); ++i) {
      const u32 window = i << (longest_code - short_bits);
      while (length <= short_bits && window >= limit_[length]) ++length;
      if (length > short_bits) return;
      short_[i] = {symbol_of(i >> (short_bits - length), length), static_cast<u16>(length)};
    }
  }

  bool is_empty_ = true;
  std::array<u32, longest_code + 1> limit_{};  // 16-bit windows below it have a code so long
  std::array<i32, longest_code + 1> first_{};  // index of its symbol less the first code
  std::array<u16, Symbols> symbols_{};
  std::array<Short, std::size_t{1} << short_bits> short_{};
};

class Chunk {
 public:
  Chunk(ByteView compressed, std::span<std::byte> plain, u64 offset)
      : compressed_{compressed}, offset_{offset}, bits_{compressed}, plain_{plain} {}

  Decompressed run() {
    while (at_ < plain_.size() && is_ok_) read_block();
    if (is_ok_ && may_have_calls_) put_back_calls();
    return {at_, !is_ok_, error_};
  }

 private:
  // Damage at about this place of the compressed bytes.
  void reject(Fault fault, Name field, u64 expected, u64 found) {
    if (!is_ok_) return;
    is_ok_ = false;
    error_ = {fault,       offset_ + std::min<u64>(bits_.position(), compressed_.size()),
              "LZX chunk", field,
              expected,    found};
  }
  bool check_bits() {
    if (bits_.exhausted()) reject(Fault::truncated, "bits", plain_.size() - at_, 0);
    return is_ok_;
  }

  void read_block() {
    const auto type = bits_.take(3);
    const bool is_usual = bits_.take(1) != 0;
    const std::size_t size = is_usual ? lzx_window : bits_.take(16);
    if (!check_bits()) return;
    if (size == 0 || size > plain_.size() - at_)
      return reject(Fault::bad_value, "block size", plain_.size() - at_, size);
    switch (static_cast<BlockType>(type)) {
      case BlockType::aligned:
        for (auto& length : aligned_lengths_) length = static_cast<u8>(bits_.take(3));
        if (!aligned_.assign(aligned_lengths_))
          return reject(Fault::bad_value, "aligned code", 0, 0);
        [[fallthrough]];
      case BlockType::verbatim:
        read_codes();
        if (check_bits()) read_items(at_ + size, static_cast<BlockType>(type));
        return;
      case BlockType::uncompressed:
        return copy_block(size);
    }
    reject(Fault::bad_value, "block type", 3, type);
  }

  void copy_block(std::size_t size) {
    bits_.align();
    if (!check_bits()) return;
    const u64 position = bits_.position();
    Reader in{compressed_.subspan(position), "LZX chunk", offset_ + position};
    for (auto& offset : recent_) offset = in.read_u32("recent offset");
    const auto bytes = in.take(size, "block");
    if (!in.ok()) {
      is_ok_ = false;
      error_ = in.error();
      return;
    }
    std::copy_n(bytes.begin(), size, plain_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += size;
    bits_.go_on_at(position + in.consumed() + size % 2);  // whole words
    may_have_calls_ = true;
  }

  void read_codes() {
    const auto lengths = std::span{main_lengths_};
    if (!read_lengths(lengths.first(literals)) || !read_lengths(lengths.subspan(literals)) ||
        !read_lengths(length_lengths_))
      return;
    if (!main_.assign(main_lengths_) || main_.is_empty())
      reject(Fault::bad_value, "main code", 0, 0);
    if (!length_.assign(length_lengths_)) reject(Fault::bad_value, "length code", 0, 0);
    may_have_calls_ = may_have_calls_ || main_lengths_[call] != 0;
  }

  // Lengths as they differ from those of the block before.
  bool read_lengths(std::span<u8> lengths) {
    constexpr u8 values = longest_code + 1;
    std::array<u8, pre_symbols> pre_lengths{};
    for (auto& length : pre_lengths) length = static_cast<u8>(bits_.take(4));
    Code<pre_symbols> pre;
    if (!pre.assign(pre_lengths) || pre.is_empty()) {
      reject(Fault::bad_value, "code of lengths", 0, 0);
      return false;
    }
    for (std::size_t i = 0; i < lengths.size() && check_bits();) {
      auto symbol = pre.read(bits_);
      std::size_t run = 1;
      bool is_zero = false;
      if (symbol == 17 || symbol == 18) {
        run = symbol == 17 ? 4 + bits_.take(4) : 20 + bits_.take(5);
        is_zero = true;
      } else if (symbol == 19) {
        run = 4 + bits_.take(1);
        symbol = pre.read(bits_);
      }
      if (run > lengths.size() - i || (!is_zero && symbol >= values)) {
        reject(Fault::bad_value, "lengths", lengths.size() - i, run);
        return false;
      }
      const auto length = is_zero ? 0 : (lengths[i] + values - symbol) % values;
      std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), run, static_cast<u8>(length));
      i += run;
    }
    return is_ok_;
  }

  void read_items(std::size_t end, BlockType type) {
    while (at_ < end && check_bits()) {
      const auto symbol = main_.read(bits_);
      if (symbol < literals) {
        plain_[at_++] = static_cast<std::byte>(symbol);
        continue;
      }
      const auto slot = static_cast<unsigned>((symbol - literals) / lengths_in_main);
      std::size_t length = (symbol - literals) % lengths_in_main;
      if (length == lengths_in_main - 1) {
        if (length_.is_empty()) return reject(Fault::bad_value, "length", 0, 0);
        length += length_.read(bits_);
      }
      length += shortest_match;
      const u32 distance = read_offset(slot, type);
      if (!check_bits()) return;
      if (distance == 0 || distance > at_)
        return reject(Fault::bad_value, "match offset", at_, distance);
      if (length > end - at_) return reject(Fault::bad_value, "match length", end - at_, length);
      for (const auto stop = at_ + length; at_ < stop; ++at_) plain_[at_] = plain_[at_ - distance];
    }
  }

  u32 read_offset(unsigned slot, BlockType type) {
    if (slot < recent_.size()) {
      std::swap(recent_[0], recent_[slot]);
      return recent_[0];
    }
    constexpr unsigned aligned_bits = 3;
    const auto extra = slot < 4 ? 0 : slot / 2 - 1;
    u32 offset = slot < 4 ? slot : (2 + slot % 2) << extra;
    if (type == BlockType::aligned && extra >= aligned_bits) {
      offset += bits_.take(extra - aligned_bits) << aligned_bits;
      if (aligned_.is_empty()) return 0;
      offset += aligned_.read(bits_);
    } else {
      offset += bits_.take(extra);
    }
    offset -= 2;
    recent_ = {offset, recent_[0], recent_[1]};
    return offset;
  }

  // Behind each E8 stands an address in place of what is relative to it.
  void put_back_calls() {
    constexpr i32 file_size = 12'000'000;
    constexpr std::size_t end_without_calls = 10;
    constexpr std::size_t call_size = 5;
    if (plain_.size() <= end_without_calls) return;
    for (std::size_t i = 0; i < plain_.size() - end_without_calls; ++i) {
      if (plain_[i] != std::byte{call}) continue;
      i32 address = 0;
      std::memcpy(&address, plain_.data() + i + 1, sizeof(address));
      const auto position = static_cast<i32>(i);
      if (address >= -position && address < file_size) {
        const i32 relative = address >= 0 ? address - position : address + file_size;
        std::memcpy(plain_.data() + i + 1, &relative, sizeof(relative));
      }
      i += call_size - 1;
    }
  }

  static constexpr u8 call = 0xe8;

  ByteView compressed_;
  u64 offset_;
  Bits bits_;
  std::span<std::byte> plain_;
  std::size_t at_ = 0;
  std::array<u32, 3> recent_{1, 1, 1};
  std::array<u8, main_symbols> main_lengths_{};
  std::array<u8, length_symbols> length_lengths_{};
  std::array<u8, aligned_symbols> aligned_lengths_{};
  Code<main_symbols> main_;
  Code<length_symbols> length_;
  Code<aligned_symbols> aligned_;
  bool may_have_calls_ = false;
  bool is_ok_ = true;
  ParseError error_{Fault::bad_value, 0, "", "", 0, 0};
};

}  // namespace

Decompressed decompress_lzx(ByteView compressed, std::span<std::byte> plain, u64 offset) {
  return Chunk{compressed, plain.first(std::min(plain.size(), lzx_window)), offset}.run();
}

}  // namespace coldtrace::core
