#include "syscall-map/signatures/prefix_count.hpp"

#include <algorithm>

namespace coldtrace::syscall_map {
namespace {

// Calls `see` with each place and how many bytes of the pattern are there.
template <class See>
void for_each_place(const pe::Image& image, std::span<const FunctionByte> pattern, See see) {
  for (const auto& code : executable_code(image))
    for (std::size_t at = 0; at < code.bytes.size(); ++at) {
      const auto most = std::min(pattern.size(), code.bytes.size() - at);
      std::size_t size = 0;
      while (size < most && (pattern[size].wildcard != Wildcard::none ||
                             std::to_integer<u8>(code.bytes[at + size]) == pattern[size].value))
        ++size;
      see(code.start + at, size);
    }
}

}  // namespace

std::vector<ExecutableCode> executable_code(const pe::Image& image) {
  std::vector<const pe::SectionHeader*> sections;
  for (const auto& section : image.sections())
    if (section.executable()) sections.push_back(&section);
  std::sort(sections.begin(), sections.end(),
            [](const auto* one, const auto* other) { return one->address < other->address; });
  std::vector<ExecutableCode> code;
  pe::Rva end{};
  for (const auto* section : sections) {
    auto bytes = image.bytes(section->address);
    const auto start = std::max(section->address, end);
    bytes =
        bytes.subspan(std::min<std::size_t>(value(start) - value(section->address), bytes.size()));
    if (bytes.empty()) continue;
    code.push_back({start, bytes});
    end = start + bytes.size();
  }
  return code;
}

std::vector<u64> count_prefixes(const pe::Image& image, std::span<const FunctionByte> pattern) {
  std::vector<u64> counts(pattern.size() + 1);
  for_each_place(image, pattern, [&](pe::Rva, std::size_t size) { ++counts[size]; });
  for (std::size_t size = pattern.size(); size > 0; --size) counts[size - 1] += counts[size];
  return counts;
}

LongestPrefix find_longest_prefix(const pe::Image& image, std::span<const FunctionByte> pattern) {
  LongestPrefix longest;
  for_each_place(image, pattern, [&](pe::Rva place, std::size_t size) {
    if (size < longest.size) return;
    if (size > longest.size) longest.places.clear();
    longest.size = static_cast<u32>(size);
    // A pattern that is nowhere would be everywhere with none of its bytes.
    if (size > 0) longest.places.push_back(place);
  });
  return longest;
}

}  // namespace coldtrace::syscall_map
