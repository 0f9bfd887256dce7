#include "coldtrace/core/image_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace coldtrace::core {

std::optional<ParseError> ImageSource::check_range(u64 offset, u64 length) const {
  if (offset <= size() && length <= size() - offset) return std::nullopt;
  const u64 left = offset <= size() ? size() - offset : 0;
  return ParseError{Fault::out_of_bounds, offset, "image", "range", length, left};
}

Result<Done> MemoryImage::read_at(u64 offset, std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return fail(*error);
  if (!destination.empty())
    std::memcpy(destination.data(), bytes_.data() + offset, destination.size());
  return Done{};
}

Result<Done> FailingImage::read_at(u64 offset, std::span<std::byte> destination) const {
  if (const auto error = check_range(offset, destination.size())) return fail(*error);
  for (const auto& bad : bad_) {
    const bool apart = offset >= bad.offset ? offset - bad.offset >= bad.length
                                            : bad.offset - offset >= destination.size();
    if (!apart && !destination.empty())
      return fail({Fault::io, std::max(offset, bad.offset), "image", "range", 0, EIO});
  }
  return source_.read_at(offset, destination);
}

}  // namespace coldtrace::core
