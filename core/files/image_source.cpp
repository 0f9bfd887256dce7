#include "coldtrace/core/image_source.hpp"

#include <algorithm>
#include <cstring>

#include "coldtrace/core/checked.hpp"

namespace coldtrace::core {
namespace {

constexpr u64 window_size = u64{1} << 20;

}  // namespace

std::optional<ParseError> ImageSource::check_range(u64 offset, u64 length) const {
  if (offset <= size() && length <= size() - offset) return std::nullopt;
  const u64 left = offset <= size() ? size() - offset : 0;
  return ParseError{Fault::out_of_bounds, offset, "image", "range", length, left};
}

bool is_unreliable(const ImageSource& source, u64 offset, u64 size) {
  const auto ranges = source.unreliable();
  const auto behind = std::ranges::upper_bound(ranges, offset, {}, [](const ByteRange& range) {
    return saturating_add(range.offset, range.length);
  });
  return behind != ranges.end() && behind->offset < saturating_add(offset, size);
}

std::size_t read_before_error(const ImageSource& source, u64 offset,
                              std::span<std::byte> destination) {
  constexpr std::size_t sector_size = 512;
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto part = destination.subspan(done, std::min(sector_size, destination.size() - done));
    if (!source.read_at(offset + done, part)) break;
    done += part.size();
  }
  return done;
}

std::optional<ParseError> find_read_error(const ImageSource& source) {
  std::vector<std::byte> window(static_cast<std::size_t>(std::min(source.size(), window_size)));
  for (u64 at = 0; at < source.size(); at += window.size()) {
    const auto left = source.size() - at;
    const auto read = source.read_at(at, std::span{window}.first(std::min(left, window_size)));
    if (!read) return read.error();
  }
  return std::nullopt;
}

Result<bool> has_same_bytes(const ImageSource& one, u64 one_offset, const ImageSource& other,
                            u64 other_offset, u64 size) {
  const auto window = std::min(size, window_size);
  std::vector<std::byte> a(static_cast<std::size_t>(window));
  std::vector<std::byte> b(static_cast<std::size_t>(window));
  for (u64 at = 0; at < size; at += window) {
    const auto count = static_cast<std::size_t>(std::min(window, size - at));
    const auto of_one = std::span{a}.first(count);
    const auto of_other = std::span{b}.first(count);
    COLDTRACE_TRY(one.read_at(one_offset + at, of_one));
    COLDTRACE_TRY(other.read_at(other_offset + at, of_other));
    if (!std::ranges::equal(of_one, of_other)) return false;
  }
  return true;
}

Result<bool> has_same_bytes(const ImageSource& one, const ImageSource& other) {
  if (one.size() != other.size()) return false;
  return has_same_bytes(one, 0, other, 0, one.size());
}

Result<Done> MemoryImage::read_at(u64 offset, std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return fail(*error);
  if (!destination.empty())
    std::memcpy(destination.data(), bytes_.data() + offset, destination.size());
  return Done{};
}

}  // namespace coldtrace::core
