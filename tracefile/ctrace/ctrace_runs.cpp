#include "tracefile/ctrace/ctrace_runs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/tracefile/names/version_text.hpp"

namespace coldtrace::tracefile {
namespace {

// As with other traces: setting the time of the machine moves what is said of the boot.
constexpr u64 boot_tolerance = 50'000'000;  // 100 ns
constexpr i64 counter_tolerance = 60;       // seconds
constexpr u32 most_processors = 0x1'0000;   // that have numbers

std::string both(std::string_view what, const std::string& one, const std::string& other) {
  return fmt::format("{} {} and {}", what, one, other);
}

std::string version_of(const CtraceHeader& header) {
  return find_version_text(header.windows_version).value_or("(version not stated)");
}

bool differ(const TracedImage& one, const TracedImage& other) {
  return one.known() && other.known() && one != other;
}

std::optional<CalibrationPair> first_pair(const CtracePart& part, u16 processor) {
  const auto found = part.scan.processors.find(processor);
  return found == part.scan.processors.end() ? std::nullopt : found->second.clock.pair_at(0);
}

u32 processors_of(const CtracePart& part) {
  u32 count = part.header.processors;
  if (!part.scan.processors.empty())
    count = std::max(count, part.scan.processors.rbegin()->first + u32{1});
  return count;
}

std::string mismatch_text(const CtracePart& one, const CtracePart& other, std::string_view why) {
  return fmt::format("{} and {} are not from one boot of one machine: {}", one.name, other.name,
                     why);
}

}  // namespace

std::optional<std::string> find_run_mismatch(const CtraceHeader& one, const CtraceHeader& other) {
  if (one.clock != other.clock)
    return both("clock", std::string{to_string(one.clock)}, std::string{to_string(other.clock)});
  if (one.frequency != other.frequency)
    return both("frequency", fmt::to_string(one.frequency), fmt::to_string(other.frequency));
  if (one.processors != other.processors)
    return both("number of processors", fmt::to_string(one.processors),
                fmt::to_string(other.processors));
  if (one.windows_version != other.windows_version)
    return both("Windows", version_of(one), version_of(other));
  if (one.boot_id != 0 && other.boot_id != 0 && one.boot_id != other.boot_id)
    return both("boot identity", fmt::to_string(one.boot_id), fmt::to_string(other.boot_id));
  const auto [earlier, later] = std::minmax(one.boot_time.ticks, other.boot_time.ticks);
  if (earlier != 0 && later - earlier > boot_tolerance)
    return both("boot time", core::to_string(one.boot_time), core::to_string(other.boot_time));
  if (differ(one.kernel, other.kernel)) return "different kernels";
  if (differ(one.ntdll, other.ntdll)) return "different ntdll.dll files";
  return std::nullopt;
}

// A counter never runs backwards, nor faster than its nominal frequency; that of a processor may
// run slower, and stand still.
std::optional<std::string> find_counter_mismatch(const CtracePart& one, const CtracePart& other) {
  for (const auto& [processor, ignored] : one.scan.processors) {
    auto a = first_pair(one, processor);
    auto b = first_pair(other, processor);
    if (!a || !b) continue;
    if (b->file_time < a->file_time) std::swap(a, b);
    const auto frequency = static_cast<double>(one.header.frequency);
    const auto counted =
        (static_cast<double>(b->cycles) - static_cast<double>(a->cycles)) / frequency;
    const auto passed = static_cast<double>(b->file_time - a->file_time) / 1e7;
    const auto least = one.header.clock == ClockType::cpu_cycles ? 0 : passed * 0.99;
    if (counted < least - counter_tolerance || counted > passed * 1.01 + counter_tolerance)
      return fmt::format("the counter of processor {} counts {:.0f} s in {:.0f} s", processor,
                         counted, passed);
    break;
  }
  return std::nullopt;
}

std::optional<std::string> number_runs(std::span<CtracePart> parts, bool force,
                                       core::Findings& findings) {
  std::vector<const CtracePart*> runs;  // the first part of each
  const auto mismatch_of = [](const CtracePart& one, const CtracePart& other) {
    auto why = find_run_mismatch(one.header, other.header);
    return why ? why : find_counter_mismatch(one, other);
  };
  for (auto& part : parts) {
    const auto known = std::find_if(runs.begin(), runs.end(), [&](const CtracePart* first) {
      return !mismatch_of(*first, part);
    });
    part.run = static_cast<u16>(known - runs.begin());
    if (known != runs.end()) continue;
    if (!runs.empty()) {
      const auto text = mismatch_text(*runs.front(), part, *mismatch_of(*runs.front(), part));
      if (!force) return text;
      findings.warning(
          "trace-mismatch", std::nullopt,
          "{}; they are read together nevertheless: processors are numbered separately, "
          "and processes have no names",
          text);
    }
    runs.push_back(&part);
  }
  std::vector<u32> processors(runs.size());
  for (const auto& part : parts)
    processors[part.run] = std::max(processors[part.run], processors_of(part));
  u32 first = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    // Of one run the numbers stay what they are, however large.
    if (run > 0 && (first >= most_processors || processors[run] > most_processors - first))
      return "the files together have more processors than can be numbered separately";
    for (auto& part : parts)
      if (part.run == run) part.first_processor = static_cast<u16>(first);
    first = processors[run] > most_processors - first ? most_processors : first + processors[run];
  }
  return std::nullopt;
}

}  // namespace coldtrace::tracefile
