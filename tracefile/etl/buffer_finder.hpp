#pragma once

#include <vector>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/tracefile/etl/buffer_header.hpp"

namespace coldtrace::tracefile {

// Finds buffers where the chain that they usually form is broken. Numbers that may be those of a
// buffer are not enough there: what they say must agree with each other, with the session and with
// the first event.
class BufferFinder {
 public:
  // Buffers have `largest` bytes at most, as the session says; 0: nothing is known of it. None is
  // searched for behind `search_end`.
  BufferFinder(const core::ImageSource& source, u32 largest, u64 search_end = ~u64{0});

  u64 end() const { return end_; }
  u32 largest() const { return largest_; }

  // The header at `at` when its numbers are plausible.
  core::Result<BufferHeader> read_header(u64 at) const;

  // The header of what is a buffer whatever surrounds it.
  std::optional<BufferHeader> find_at(u64 at) const;

  // The same but for BufferSize, which may be anything. Of a compressed buffer little is left then.
  std::optional<BufferHeader> find_unsized_at(u64 at) const;

  // The header of what is a buffer but for Offset, BufferFlag or BufferType, that it has where one
  // ended and in front of another one: with what these can be.
  std::optional<BufferHeader> find_repaired_at(u64 at) const;

  // Most bytes that a buffer with this much in it takes in the file.
  u32 most_bytes(const BufferHeader& header) const;

  // Where the next buffer starts at or behind `from`, at any byte; the end of the file when there
  // is none.
  u64 find_next(u64 from);

 private:
  bool is_buffer(core::ByteView bytes, u64 at) const;
  bool has_room(const BufferHeader& header, u64 at) const;
  bool read_window(u64 from, std::vector<std::byte>& window) const;
  u64 search(u64 from) const;

  const core::ImageSource& source_;
  u64 end_;
  u32 largest_;
  u64 search_end_;
  u64 searched_from_ = ~u64{0};  // the last search: from there to what it found
  u64 found_ = 0;
};

}  // namespace coldtrace::tracefile
