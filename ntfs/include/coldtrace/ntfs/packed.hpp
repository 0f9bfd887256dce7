#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::ntfs {

// Requests huge pages for memory with random access (bench/compare-ntfs, a million names); no
// effect if refused.
void advise_huge_pages(void* memory, std::size_t size);

// Memory for many small pieces that stay until the end. A piece is identified by 32 bits; 0 is
// none.
class Arena {
 public:
  static constexpr u32 none = 0;
  static constexpr std::size_t chunk_size = 2 << 20;  // a huge page
  static constexpr std::size_t granule = 4;
  static constexpr u32 pieces_in_chunk = chunk_size / granule;
  static constexpr u32 chunk_limit = (u64{1} << 32) / pieces_in_chunk;

  // Uses at most this many chunks.
  explicit Arena(u32 most_chunks = chunk_limit) : chunks_(std::min(most_chunks, chunk_limit)) {}

  // Adds pieces for one thread; several writers may fill one arena at once.
  class Writer {
   public:
    explicit Writer(Arena& arena) : arena_{arena} {}
    // `none` if the piece or the arena is too large.
    u32 add(core::ByteView piece);

   private:
    Arena& arena_;
    u32 chunk_ = 0;
    std::size_t used_ = chunk_size;
  };

  // From the start of the piece on; pieces contain their own ends.
  [[nodiscard]] core::ByteView at(u32 piece) const {
    const std::size_t start = std::size_t{piece & (pieces_in_chunk - 1)} * granule;
    return {chunks_[piece / pieces_in_chunk].get() + start, chunk_size - start};
  }

  [[nodiscard]] u64 bytes() const { return u64{count_} * chunk_size; }

 private:
  struct Free {
    void operator()(std::byte* chunk) const { std::free(chunk); }
  };
  using Chunk = std::unique_ptr<std::byte, Free>;

  bool add_chunk(u32& index);

  std::mutex mutex_;
  u32 count_ = 0;
  // Never moves, so that pieces can be read while others are added.
  std::vector<Chunk> chunks_;
};

// Integers in 1 to 10 bytes, low bits first, and plain bytes, for pieces of an arena.
class PackedWriter {
 public:
  PackedWriter() = default;
  PackedWriter(const PackedWriter&) = delete;
  PackedWriter& operator=(const PackedWriter&) = delete;

  void clear() { at_ = bytes_.data(); }
  [[nodiscard]] core::ByteView view() const { return {bytes_.data(), at_}; }

  [[gnu::always_inline]] void put(u64 value) {
    std::byte* to = room(10);
    while (value >= 0x80) {
      *to++ = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    *to++ = static_cast<std::byte>(value);
    at_ = to;
  }

  template <class T>
  void put_raw(T value) {
    std::memcpy(room(sizeof(T)), &value, sizeof(T));
    at_ += sizeof(T);
  }

  void put_bytes(core::ByteView view) {
    if (view.empty()) return;
    std::memcpy(room(view.size()), view.data(), view.size());
    at_ += view.size();
  }

  // Space for `count` bytes after the end; commit() keeps what was written there.
  std::byte* room(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) grow(count);
    return at_;
  }
  void commit(std::size_t count) { at_ += count; }

 private:
  void grow(std::size_t count) {
    const auto used = static_cast<std::size_t>(at_ - bytes_.data());
    bytes_.resize(bytes_.size() * 2 + count);
    at_ = bytes_.data() + used;
    end_ = bytes_.data() + bytes_.size();
  }

  std::vector<std::byte> bytes_ = std::vector<std::byte>(4096);
  std::byte* at_ = bytes_.data();
  std::byte* end_ = bytes_.data() + bytes_.size();
};

// Reads what PackedWriter wrote; zeros follow the end.
class PackedReader {
 public:
  explicit PackedReader(core::BorrowedBytes bytes)
      : at_{bytes.get().data()}, end_{at_ + bytes.get().size()} {}

  // Most are one byte: without calls the position stays in a register (bench/compare-python).
  [[gnu::always_inline]] u64 get() {
    if (at_ == end_) return 0;
    const auto first = std::to_integer<u64>(*at_++);
    return first < 0x80 ? first : get_rest(first & 0x7f);
  }

  template <class T>
  T get_raw() {
    T value{};
    const auto view = get_bytes(sizeof(T));
    if (view.size() == sizeof(T)) std::memcpy(&value, view.data(), sizeof(T));
    return value;
  }

  core::ByteView get_bytes(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) at_ = end_;
    const core::ByteView view{at_, at_ == end_ ? 0 : count};
    at_ += view.size();
    return view;
  }

 private:
  u64 get_rest(u64 value) {
    for (unsigned shift = 7; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = std::to_integer<u64>(*at_++);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace coldtrace::ntfs
