#include "tracefile/etl/buffer_finder.hpp"

#include <algorithm>
#include <array>

#include "coldtrace/tracefile/etl/trace_header.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 header_size = BufferHeader::size_on_disk;
constexpr std::size_t seen_size = header_size + 8;  // with the start of the first event
constexpr std::size_t sector = 512;

bool is_packed(const BufferHeader& header) {
  return (header.flags & BufferHeader::compressed) != 0;
}

// What a header and the bytes behind it say of themselves agrees, whatever BufferSize says.
// Source: all buffers of 24 files of Windows 7 to 11; the first one has another SavedOffset, and a
// compressed file's the format in State.
bool agrees(const BufferHeader& header, core::ByteView bytes) {
  constexpr u32 last_state = 4;
  const bool is_first = header.type == BufferHeader::header_buffer;
  if (header.filled < header_size || core::load<u32>(bytes, 0x0c) != 0U) return false;
  if (header.state > last_state || header.timestamp < 0 || header.sequence < 0) return false;
  if (!is_first && header.saved != 0 && header.saved != header.filled) return false;
  if (is_packed(header)) return true;
  const auto first = bytes.subspan(header_size);
  if (header.filled == header_size) return core::load<u32>(first, 0) == 0xffffffffU;
  return starts_record(first, header.filled - header_size);
}

}  // namespace

BufferFinder::BufferFinder(const core::ImageSource& source, u32 largest, u64 search_end)
    : source_{source}, end_{source.size()}, largest_{largest}, search_end_{search_end} {}

core::Result<BufferHeader> BufferFinder::read_header(u64 at) const {
  std::array<std::byte, header_size> bytes;
  const auto part = std::span{bytes}.first(std::min<u64>(end_ - at, header_size));
  COLDTRACE_TRY(source_.read_at(at, part));
  return read_buffer_header(part, at);
}

std::optional<BufferHeader> BufferFinder::find_at(u64 at) const {
  std::array<std::byte, seen_size> bytes;
  if (end_ - at < seen_size || !source_.read_at(at, bytes) || !is_buffer(bytes, at))
    return std::nullopt;
  return load_buffer_header(bytes);
}

std::optional<BufferHeader> BufferFinder::find_unsized_at(u64 at) const {
  std::array<std::byte, seen_size> bytes;
  if (end_ - at < seen_size || !source_.read_at(at, bytes)) return std::nullopt;
  const auto header = load_buffer_header(bytes);
  auto sized = header;
  sized.size = header_size;
  if (!is_plausible(sized) || !agrees(header, bytes)) return std::nullopt;
  return header;
}

std::optional<BufferHeader> BufferFinder::find_repaired_at(u64 at) const {
  std::array<std::byte, seen_size> bytes;
  if (end_ - at < seen_size || !source_.read_at(at, bytes)) return std::nullopt;
  auto header = load_buffer_header(bytes);
  header.flags &= BufferHeader::known_flags;
  if (header.type > BufferHeader::last_type) header.type = 0;
  const bool unfilled = header.filled > BufferHeader::largest_buffer;
  if (unfilled) header.filled = header.saved != 0 || is_packed(header) ? header.saved : header.size;
  if (!is_plausible(header) || !has_room(header, at) || !agrees(header, bytes)) return std::nullopt;
  const u64 next = at + header.size;
  if (next != end_ && (next > end_ || !find_at(next))) return std::nullopt;
  if (unfilled && header.saved == 0) header.filled = BufferHeader::largest_buffer;
  return header;
}

u64 BufferFinder::find_next(u64 from) {
  if (from < searched_from_ || from > found_) {
    found_ = search(from);
    searched_from_ = from;
  }
  return found_;
}

u32 BufferFinder::most_bytes(const BufferHeader& header) const {
  // What cannot be packed becomes longer by an eighth at most.
  if (is_packed(header)) return header.filled + header.filled / 8 + header_size;
  return largest_ == 0 ? BufferHeader::largest_buffer : largest_;
}

bool BufferFinder::has_room(const BufferHeader& header, u64 at) const {
  const bool cut = header.size > end_ - at;
  if (header.size > most_bytes(header)) return false;
  return is_packed(header) ? !cut : header.filled <= header.size && (!cut || largest_ != 0);
}

bool BufferFinder::is_buffer(core::ByteView bytes, u64 at) const {
  const auto header = load_buffer_header(bytes);
  if (!is_plausible(header) || !has_room(header, at) || !agrees(header, bytes)) return false;
  if (!is_packed(header) && header.filled > header_size) return true;
  if (header.size > end_ - at) return false;
  const u64 next = at + header.size;
  return end_ - next < header_size || read_header(next).has_value();
}

// As much as can be read from there.
bool BufferFinder::read_window(u64 from, std::vector<std::byte>& window) const {
  for (const std::size_t size : {std::size_t{1} << 20, std::size_t{1} << 12, sector + seen_size}) {
    window.resize(static_cast<std::size_t>(std::min<u64>(size, end_ - from)));
    if (source_.read_at(from, window)) return true;
  }
  return false;
}

u64 BufferFinder::search(u64 from) const {
  std::vector<std::byte> window;
  while (from < std::min(end_, search_end_) && end_ - from >= seen_size) {
    if (!read_window(from, window)) {
      from += sector;
      continue;
    }
    std::size_t i = 0;
    for (; i + seen_size <= window.size(); ++i) {
      const auto size = *core::load<u32>(window, i);
      if (size < header_size || size > BufferHeader::largest_buffer) continue;
      if (is_buffer(core::ByteView{window}.subspan(i, seen_size), from + i)) return from + i;
    }
    from += i;
  }
  return end_;
}

}  // namespace coldtrace::tracefile
