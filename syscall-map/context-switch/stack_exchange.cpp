#include "syscall-map/context-switch/stack_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace coldtrace::syscall_map {
namespace {

constexpr std::size_t most_exchanges = 4096;
// x86: seen in 12 kernels of XP, 2003 and 7. x64: no kernel was at hand, so wider.
constexpr u64 load_reach_x86 = 0x60;
constexpr u64 load_reach_x64 = 0x200;
constexpr u32 traits_before = 0x80;
constexpr u64 traits_behind = 0x180;

u8 at(core::ByteView bytes, std::size_t index) {
  return std::to_integer<u8>(bytes[index]);
}

// mov esp, [esi+KK] behind the save; `from` is one behind that.
std::optional<std::size_t> find_load(core::ByteView bytes, std::size_t from, u8 offset, bool wide) {
  const std::size_t size = wide ? 4 : 3;
  const u64 reach = wide ? load_reach_x64 : load_reach_x86;
  const auto end = std::min<u64>(bytes.size(), from + reach + size);
  for (auto index = from; index + size <= end; ++index) {
    const auto code = index + (wide ? 1 : 0);
    if (at(bytes, code) == 0x8b && at(bytes, code + 1) == 0x66 && at(bytes, code + 2) == offset &&
        (!wide || at(bytes, index) == 0x48))
      return index;
  }
  return std::nullopt;
}

// KTHREAD begins with a dispatcher header, and its first pointers are aligned.
bool may_be_kernel_stack(u8 offset, bool wide) {
  return offset >= 0x10 && offset < 0x80 && offset % (wide ? 8 : 4) == 0;
}

}  // namespace

std::vector<StackExchange> find_stack_exchanges(const KernelCode& code, core::Findings& findings) {
  const bool wide = code.is_x64();
  const std::size_t prefix = wide ? 2 : 1;  // bytes before 67: 48 89, 89
  std::vector<StackExchange> found;
  for (const auto& range : code.ranges()) {
    const auto bytes = range.bytes;
    std::size_t from = prefix;
    while (from + 1 < bytes.size()) {
      const auto* hit = std::memchr(bytes.data() + from, 0x67, bytes.size() - 1 - from);
      if (!hit) break;
      const auto index =
          static_cast<std::size_t>(static_cast<const std::byte*>(hit) - bytes.data());
      from = index + 1;
      if (at(bytes, index - 1) != 0x89 || (wide && at(bytes, index - 2) != 0x48)) continue;
      const auto offset = at(bytes, index + 1);
      if (!may_be_kernel_stack(offset, wide)) continue;
      const auto load = find_load(bytes, index + 2, offset, wide);
      if (!load) continue;
      if (found.size() == most_exchanges) {
        findings.warning(
            "context-switch-limit", code.image().addresses().to_offset(range.start),
            "more than {} places exchange the stack pointer; the others are not examined",
            most_exchanges);
        return found;
      }
      found.push_back({range.start + (index - prefix), range.start + *load, offset});
    }
  }
  return found;
}

SwitchTraits find_traits(const KernelCode& code, pe::Rva entry, std::optional<pe::Rva> end,
                         const StackExchange& exchange) {
  auto start = value(entry);
  if (!end && value(exchange.save) > traits_before)
    start = std::max(start, value(exchange.save) - traits_before);
  const auto stop = end ? value(*end) : value(exchange.save + traits_behind);
  const auto bytes = code.bytes(pe::Rva{start}, stop > start ? stop - start : 0);
  SwitchTraits traits;
  const auto note = [&](std::optional<pe::Rva>& trait, std::size_t index) {
    if (!trait) trait = pe::Rva{start} + index;
  };
  for (std::size_t index = 0; index + 3 <= bytes.size(); ++index) {
    if (at(bytes, index) != 0x0f) continue;
    const auto opcode = at(bytes, index + 1);
    const auto operand = at(bytes, index + 2);
    if (opcode == 0x20 && (operand & 0xf8) == 0xc0) note(traits.reads_cr0, index);
    if (opcode == 0x22 && (operand & 0xf8) == 0xd8) note(traits.writes_cr3, index);
    if (opcode == 0x0d && (operand & 0x38) == 0x08) note(traits.prefetches, index);
    if (opcode == 0x31) note(traits.reads_timestamp, index);
  }
  return traits;
}

}  // namespace coldtrace::syscall_map
