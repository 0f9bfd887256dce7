#include "pe/exception_directory.hpp"

#include <algorithm>
#include <optional>

#include "core/sorting.hpp"

namespace coldtrace::pe {
namespace {

using Entry64 = core::Fields<12>;
using EntryArm = core::Fields<8>;

std::optional<FunctionRange> decode_x64(const Image& image, const Entry64& entry) {
  const FunctionRange range{Rva{entry.get<u32, 0>()}, Rva{entry.get<u32, 4>()}, entry.get<u32, 8>(),
                            false};
  if (range.end <= range.start) return std::nullopt;
  // Bit 0: another entry of this table. Otherwise UNWIND_INFO, whose flags follow 3 bits version.
  constexpr u32 indirect = 1;
  constexpr u8 chained = 4 << 3;
  auto decoded = range;
  decoded.fragment =
      (range.unwind_data & indirect) != 0 ||
      (core::load<u8>(image.addresses().tail(Rva{range.unwind_data}, 1), 0).value_or(0) &
       chained) != 0;
  return decoded;
}

// Lengths count instructions of `unit` bytes.
std::optional<FunctionRange> decode_arm(const Image& image, const EntryArm& entry, u32 unit) {
  const auto begin = entry.get<u32, 0>();
  const auto unwind = entry.get<u32, 4>();
  // Bit 0 of an ARM32 address says Thumb.
  const Rva start{unit == 2 ? begin & ~1U : begin};
  constexpr u32 flag_bits = 3;
  constexpr u32 packed_fragment = 2;
  const auto flag = unwind & flag_bits;
  if (flag == flag_bits) return std::nullopt;  // reserved
  u64 length = (unwind >> 2) & 0x7ff;
  if (flag == 0) {
    const auto header = core::load<u32>(image.addresses().tail(Rva{unwind}, 4), 0);
    if (!header) return std::nullopt;
    length = *header & 0x3ffff;
  }
  if (length == 0) return std::nullopt;
  return FunctionRange{start, start + length * unit, unwind, flag == packed_fragment};
}

}  // namespace

std::vector<FunctionRange> read_function_ranges(const Image& image, core::Findings& findings) {
  std::vector<FunctionRange> ranges;
  const auto machine = image.machine();
  const bool x64 = machine == Machine::amd64;
  if (!x64 && machine != Machine::arm64 && machine != Machine::armnt) return ranges;
  const auto& location = image.directory(Directory::exceptions);
  if (value(location.address) == 0 || location.size == 0) return ranges;
  const auto table = image.addresses().tail(location.address, location.size);
  const auto offset = image.addresses().to_offset(location.address).value_or(0);
  if (table.size() < location.size)
    findings.warning("exception-range", offset,
                     "an exception table of {:#x} bytes at RVA {:#x}, the file stores {:#x}",
                     location.size, value(location.address), table.size());

  const u64 size = x64 ? 12 : 8;
  ranges.reserve(table.size() / size);
  for (u64 at = 0; at + size <= table.size(); at += size) {
    const auto start = core::load<u32>(table, at).value_or(0);
    const auto second = core::load<u32>(table, at + 4).value_or(0);
    if (start == 0 && second == 0) continue;  // padding of incremental links
    const auto range =
        x64 ? decode_x64(image, *Entry64::at(table, at))
            : decode_arm(image, *EntryArm::at(table, at), machine == Machine::armnt ? 2 : 4);
    if (!range) {
      findings.warning("exception-entry", offset + at,
                       "the exception entry at RVA {:#x} for code at {:#x} gives no length",
                       value(location.address + at), start);
      continue;
    }
    if (!ranges.empty() && range->start < ranges.back().start)
      findings.warning("exception-order", offset + at,
                       "exception entries go back from RVA {:#x} to {:#x}",
                       value(ranges.back().start), value(range->start));
    ranges.push_back(*range);
  }
  core::stable_sort_if_needed(ranges,
                              [](const auto& a, const auto& b) { return a.start < b.start; });
  return ranges;
}

}  // namespace coldtrace::pe
