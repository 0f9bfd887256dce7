#include "tracefile/opening/one_machine.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "coldtrace/tracefile/names/version_text.hpp"

namespace coldtrace::tracefile {
namespace {

// Setting the time of the machine moves what its kernel says of the boot by parts of a second where
// a time service does it; nothing boots twice in this time.
constexpr u64 boot_tolerance = 50'000'000;   // 100 ns
constexpr u64 zero_tolerance = 600'000'000;  // 100 ns; clocks drift by seconds a day

u64 distance(u64 a, u64 b) {
  return a > b ? a - b : b - a;
}

std::string both(std::string_view what, const std::string& one, const std::string& other) {
  return fmt::format("{} {} and {}", what, one, other);
}

std::string version_of(const LogfileHeader& header) {
  return find_version_text(header.windows_version()).value_or("(version not stated)");
}

// When the counter of the session was 0, by its start.
u64 time_of_zero(const BufferScan& scan) {
  return make_clock(scan.header, scan.first_timestamp).to_file_time(0).ticks;
}

}  // namespace

std::optional<std::string> find_clock_mismatch(const BufferScan& one, const BufferScan& other) {
  const auto& a = one.header;
  const auto& b = other.header;
  if (!one.has_header || !other.has_header) return "the header of one is lost";
  const auto clock_of = [](const LogfileHeader& header) {
    // A raw clock is the performance counter.
    return header.clock_type == 0 ? u32{1} : header.clock_type;
  };
  if (clock_of(a) != clock_of(b))
    return both("clock", std::string{to_string(static_cast<ClockType>(a.clock_type))},
                std::string{to_string(static_cast<ClockType>(b.clock_type))});
  const bool counts = clock_of(a) != static_cast<u32>(ClockType::system_time);
  if (counts && a.performance_frequency != b.performance_frequency)
    return both("frequency", fmt::to_string(a.performance_frequency),
                fmt::to_string(b.performance_frequency));
  if (clock_of(a) == static_cast<u32>(ClockType::cpu_cycles) && a.cpu_speed != b.cpu_speed)
    return both("speed of processors", fmt::to_string(a.cpu_speed), fmt::to_string(b.cpu_speed));
  if (counts && distance(time_of_zero(one), time_of_zero(other)) > zero_tolerance)
    return both("counter since", core::to_string(core::FileTime{time_of_zero(one)}),
                core::to_string(core::FileTime{time_of_zero(other)}));
  return std::nullopt;
}

std::optional<std::string> find_machine_mismatch(const BufferScan& one, const BufferScan& other) {
  const auto& a = one.header;
  const auto& b = other.header;
  if (a.processors != b.processors)
    return both("number of processors", fmt::to_string(a.processors), fmt::to_string(b.processors));
  if (a.provider_version != b.provider_version || a.major_version != b.major_version ||
      a.minor_version != b.minor_version)
    return both("Windows", version_of(a), version_of(b));
  if (a.boot_time.ticks != 0 && b.boot_time.ticks != 0 &&
      distance(a.boot_time.ticks, b.boot_time.ticks) > boot_tolerance)
    return both("boot time", core::to_string(a.boot_time), core::to_string(b.boot_time));
  return std::nullopt;
}

core::Result<bool> is_copy(const ScannedFile& one, const ScannedFile& other) {
  const auto& a = one.scan;
  const auto& b = other.scan;
  // Before the bytes are read.
  const bool may_be =
      a.header.start_time == b.header.start_time && a.first_timestamp == b.first_timestamp &&
      std::ranges::equal(a.buffers, b.buffers, [](const BufferEntry& x, const BufferEntry& y) {
        return x.sequence == y.sequence && x.size == y.size && x.filled == y.filled &&
               x.processor == y.processor;
      });
  if (!may_be) return false;
  return core::has_same_bytes(*one.source, *other.source);
}

std::optional<i64> find_shared_buffer(const ScannedFile& one, const ScannedFile& other) {
  if (one.scan.header.start_time != other.scan.header.start_time ||
      one.scan.first_timestamp != other.scan.first_timestamp)
    return std::nullopt;
  std::multimap<std::pair<i64, u16>, const BufferEntry*> known;
  for (const auto& entry : one.scan.buffers)
    if (entry.offset != 0) known.emplace(std::pair{entry.sequence, entry.processor}, &entry);
  for (const auto& entry : other.scan.buffers) {
    const auto [first, last] = known.equal_range({entry.sequence, entry.processor});
    if (entry.offset == 0 || first == last) continue;
    // Headers first: most buffers of one number have other times.
    const auto same = [&](const auto& of_one) {
      const auto size = u64{std::min(of_one.second->size, entry.size)};
      const auto header = std::min<u64>(size, BufferHeader::size_on_disk);
      const auto equal = [&](u64 count) {
        return core::has_same_bytes(*one.source, of_one.second->offset, *other.source, entry.offset,
                                    count);
      };
      return equal(header).value_or(false) && equal(size).value_or(true);
    };
    if (std::any_of(first, last, same)) return entry.sequence;
  }
  return std::nullopt;
}

}  // namespace coldtrace::tracefile
