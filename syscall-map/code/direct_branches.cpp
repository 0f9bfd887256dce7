#include "syscall-map/code/direct_branches.hpp"

#include <algorithm>
#include <array>

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_branches = 1 << 18;

// Ascending and disjoint.
std::vector<RvaRange> join(std::vector<RvaRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const RvaRange& a, const RvaRange& b) { return a.start < b.start; });
  std::vector<RvaRange> joined;
  for (const auto& range : ranges) {
    if (!joined.empty() && range.start <= joined.back().end)
      joined.back().end = std::max(joined.back().end, range.end);
    else
      joined.push_back(range);
  }
  return joined;
}

bool contains(std::span<const RvaRange> ranges, u32 rva) {
  const auto behind =
      std::upper_bound(ranges.begin(), ranges.end(), rva,
                       [](u32 at, const RvaRange& range) { return at < range.start; });
  return behind != ranges.begin() && rva < std::prev(behind)->end;
}

std::vector<DirectBranch> by_target(std::vector<DirectBranch> branches) {
  std::sort(branches.begin(), branches.end(), [](const DirectBranch& a, const DirectBranch& b) {
    return std::pair{a.target, a.from} < std::pair{b.target, b.from};
  });
  return branches;
}

// What may begin a direct branch.
constexpr std::array<bool, 256> opcodes() {
  std::array<bool, 256> table{};
  table[0x0f] = table[0xe8] = table[0xe9] = true;
  return table;
}

}  // namespace

std::vector<DirectBranch> find_direct_branches(const KernelCode& code, std::vector<RvaRange> ranges,
                                               core::Findings& findings) {
  static constexpr auto first = opcodes();
  ranges = join(std::move(ranges));
  std::vector<DirectBranch> branches;
  if (ranges.empty()) return branches;
  const auto lowest = static_cast<u32>(ranges.front().start);
  const auto reach = ranges.back().end - ranges.front().start;
  for (const auto& range : code.ranges()) {
    const auto bytes = range.bytes;
    for (std::size_t at = 0; at + 5 <= bytes.size(); ++at) {
      const auto opcode = std::to_integer<u8>(bytes[at]);
      if (!first[opcode]) continue;
      auto distance_at = at + 1;
      if (opcode == 0x0f) {
        if ((std::to_integer<u8>(bytes[at + 1]) & 0xf0) != 0x80) continue;
        ++distance_at;
      }
      const auto distance = core::load<u32>(bytes, distance_at);
      if (!distance) continue;
      const auto target = value(range.start) + static_cast<u32>(distance_at) + 4 + *distance;
      if (target - lowest >= reach || !contains(ranges, target)) continue;
      if (branches.size() == most_branches) {
        findings.warning("context-switch-limit", code.image().addresses().to_offset(range.start),
                         "more than {} branches lead to where a context switch might be; the "
                         "others are not examined",
                         most_branches);
        return by_target(std::move(branches));
      }
      branches.push_back({range.start + at, pe::Rva{target}, opcode == 0xe8});
    }
  }
  return by_target(std::move(branches));
}

}  // namespace coldtrace::syscall_map
