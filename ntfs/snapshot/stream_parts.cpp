#include "ntfs/snapshot/stream_parts.hpp"

#include <algorithm>

namespace coldtrace::ntfs {
namespace {

bool is_of_stream_before(const AttributeFacts* a, const AttributeFacts* b) {
  return a->type != b->type ? a->type < b->type : a->name < b->name;
}

}  // namespace

StreamParts::StreamParts(const std::vector<AttributeFacts>& attributes,
                         std::vector<const AttributeFacts*>& memory)
    : parts_{memory} {
  parts_.clear();
  for (const auto& attribute : attributes)
    if (!attribute.resident) parts_.push_back(&attribute);
  std::ranges::sort(parts_, [](const AttributeFacts* a, const AttributeFacts* b) {
    if (is_of_stream_before(a, b)) return true;
    return !is_of_stream_before(b, a) && a < b;
  });
}

std::span<const AttributeFacts* const> StreamParts::of(const AttributeFacts& part) const {
  // Not that of ranges: clang 14 cannot make its subrange.
  const auto [first, last] =
      std::equal_range(parts_.begin(), parts_.end(), &part, is_of_stream_before);
  return {first, last};
}

}  // namespace coldtrace::ntfs
