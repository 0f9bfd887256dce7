#include "coldtrace/pe/exception_directory.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "coldtrace/core/sorting.hpp"
#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {
namespace {

constexpr std::size_t size_x64 = 12;
constexpr std::size_t size_arm = 8;
using Entry64 = core::Fields<size_x64>;
using EntryArm = core::Fields<size_arm>;

// The low bits of an ARM entry's second word.
constexpr u32 flag_bits = 3;
constexpr u32 packed_fragment = 2;

std::optional<FunctionRange> decode_x64(const Entry64& entry) {
  const FunctionRange range{Rva{entry.get<u32, 0>()}, Rva{entry.get<u32, 4>()},
                            entry.get<u32, 8>()};
  if (range.end < range.start) return std::nullopt;
  return range;
}

// Lengths count instructions of `unit` bytes.
std::optional<FunctionRange> decode_arm(const Image& image, const EntryArm& entry, u32 unit) {
  const auto begin = entry.get<u32, 0>();
  const auto unwind = entry.get<u32, 4>();
  // Bit 0 of an ARM32 address says Thumb.
  const Rva start{unit == 2 ? begin & ~1U : begin};
  const auto flag = unwind & flag_bits;
  if (flag == flag_bits) return std::nullopt;  // reserved
  u64 length = (unwind >> 2) & 0x7ff;
  if (flag == 0) {
    const auto header = core::load<u32>(image.bytes(Rva{unwind}, 4), 0);
    if (!header) return std::nullopt;
    length = *header & 0x3ffff;
  }
  return FunctionRange{start, start + length * unit, unwind};
}

// The .pdata of an image whose machine has one.
core::ByteView find_table(const Image& image, core::Findings& findings) {
  const auto machine = image.machine();
  if (machine != Machine::amd64 && machine != Machine::arm64 && machine != Machine::armnt)
    return {};
  const auto& location = image.directory(Directory::exceptions);
  if (value(location.address) == 0 || location.size == 0) return {};
  const auto table = image.bytes(location.address, location.size);
  if (table.size() < location.size)
    findings.warning(
        "exception-range", image.offset_of(Directory::exceptions),
        "an exception table of {:#x} bytes at RVA {:#x}, of which the file stores {:#x}",
        location.size, value(location.address), table.size());
  return table;
}

// An entry of x64 is the range, word by word.
static_assert(sizeof(FunctionRange) == size_x64 && std::is_trivially_copyable_v<FunctionRange>);

// True for an x64 table without anything to skip or to find: its ranges are its bytes.
bool is_regular(const Image& image, core::ByteView table) {
  if (image.machine() != Machine::amd64) return false;
  // Without a branch an entry: nearly all tables are regular.
  unsigned irregular = 0;
  Rva last{};
  for (u64 at = 0; at + size_x64 <= table.size(); at += size_x64) {
    FunctionRange range;
    std::memcpy(&range, table.data() + at, size_x64);
    irregular |= static_cast<unsigned>(range.start < last);
    irregular |= static_cast<unsigned>(range.end <= range.start);
    last = range.start;
  }
  return irregular == 0;
}

std::vector<FunctionRange> copy_regular(core::ByteView table) {
  std::vector<FunctionRange> ranges(table.size() / size_x64);
  if (!ranges.empty()) std::memcpy(ranges.data(), table.data(), ranges.size() * size_x64);
  return ranges;
}

// Appends what `decode` makes of every entry of the table at `address`.
template <class Entry, std::size_t Size, class Decode>
void decode_table(core::ByteView table, Rva address, u64 offset, const Decode& decode,
                  std::vector<FunctionRange>& ranges, core::Findings& findings) {
  Rva last{};
  for (u64 at = 0; at + Size <= table.size(); at += Size) {
    const auto entry = *Entry::at(table, at);
    const auto start = entry.template get<u32, 0>();
    if (start == 0 && entry.template get<u32, 4>() == 0) continue;  // padding of incremental links
    const std::optional<FunctionRange> range = decode(entry);
    if (!range) {
      findings.warning("exception-entry", offset + at,
                       "the exception entry at RVA {:#x} for code at {:#x} gives no length",
                       value(address + at), start);
      continue;
    }
    // Observed on healthy DLLs.
    if (range->start == range->end) {
      findings.info("exception-empty", offset + at,
                    "the exception entry at RVA {:#x} covers no code at {:#x}", value(address + at),
                    start);
      continue;
    }
    if (range->start < last)
      findings.warning("exception-order", offset + at,
                       "exception entries go back from RVA {:#x} to {:#x}", value(last),
                       value(range->start));
    last = range->start;
    ranges.push_back(*range);
  }
}

std::vector<FunctionRange> decode_irregular(const Image& image, core::ByteView table,
                                            core::Findings& findings) {
  const auto address = image.directory(Directory::exceptions).address;
  const auto offset = image.offset_of(Directory::exceptions);
  std::vector<FunctionRange> ranges;
  if (image.machine() == Machine::amd64) {
    ranges.reserve(table.size() / size_x64);
    decode_table<Entry64, size_x64>(table, address, offset, decode_x64, ranges, findings);
  } else {
    const u32 unit = image.machine() == Machine::armnt ? 2 : 4;
    ranges.reserve(table.size() / size_arm);
    decode_table<EntryArm, size_arm>(
        table, address, offset,
        [&](const EntryArm& entry) { return decode_arm(image, entry, unit); }, ranges, findings);
  }
  core::stable_sort_if_needed(ranges,
                              [](const auto& a, const auto& b) { return a.start < b.start; });
  return ranges;
}

}  // namespace

std::vector<FunctionRange> read_function_ranges(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  const auto table = find_table(image, findings);
  return is_regular(image, table) ? copy_regular(table) : decode_irregular(image, table, findings);
}

u64 count_function_ranges(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  const auto table = find_table(image, findings);
  return is_regular(image, table) ? table.size() / size_x64
                                  : decode_irregular(image, table, findings).size();
}

bool is_fragment(const Image& image, const FunctionRange& range) {
  if (image.machine() != Machine::amd64) return (range.unwind_data & flag_bits) == packed_fragment;
  // Bit 0: another entry of this table. Otherwise UNWIND_INFO, whose flags follow 3 bits version.
  constexpr u32 indirect = 1;
  constexpr u8 chained = 4 << 3;
  const auto flags = core::load<u8>(image.bytes(Rva{range.unwind_data}, 1), 0);
  return (range.unwind_data & indirect) != 0 || (flags.value_or(0) & chained) != 0;
}

}  // namespace coldtrace::pe
