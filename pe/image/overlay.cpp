#include "coldtrace/pe/overlay.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace coldtrace::pe {

std::optional<Overlay> find_overlay(const Image& image) {
  if (image.layout() == Layout::memory) return std::nullopt;
  u64 end = image.optional_header().size_of_headers;
  for (const auto& section : image.sections())
    if (section.raw_offset != 0 && section.raw_size != 0)
      end = std::max(end, u64{section.raw_offset} + section.raw_size);
  const u64 size = image.file().size();
  if (end >= size) return std::nullopt;
  return Overlay{end, size - end};
}

core::ByteView stored_bytes(const Image& image, const SectionHeader& section) {
  if (image.layout() == Layout::memory) return image.bytes(section.address, section.raw_size);
  if (section.raw_offset == 0) return {};
  return image.file().clip(section.raw_offset, section.raw_size);
}

double compute_entropy(core::ByteView bytes) {
  // Four counters a value: one would wait for itself where bytes repeat.
  std::array<std::array<u64, 256>, 4> counts{};
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane)
      ++counts[lane][std::to_integer<u8>(bytes[i + lane])];
  for (; i < bytes.size(); ++i) ++counts[0][std::to_integer<u8>(bytes[i])];
  double entropy = 0;
  for (std::size_t value = 0; value < 256; ++value) {
    const auto count = counts[0][value] + counts[1][value] + counts[2][value] + counts[3][value];
    if (count == 0) continue;
    const auto share = static_cast<double>(count) / static_cast<double>(bytes.size());
    entropy -= share * std::log2(share);
  }
  return std::max(entropy, 0.0);
}

}  // namespace coldtrace::pe
