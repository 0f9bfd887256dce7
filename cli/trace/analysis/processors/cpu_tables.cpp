#include "cli/trace/analysis/processors/cpu_tables.hpp"

#include <algorithm>

namespace coldtrace::cli {
namespace {

using trace_analysis::ProcessorSchedule;
using trace_analysis::ProcessorShare;
using trace_analysis::RoutineUse;
using trace_analysis::SampledUse;
using trace_analysis::ThreadUse;

// Numbers of the elements that `has` something, those with most `of` it first.
template <class T, class Has, class Of>
std::vector<u32> ranked(const std::vector<T>& all, Has has, Of of) {
  std::vector<u32> order;
  for (u32 i = 0; i < all.size(); ++i)
    if (has(all[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](u32 a, u32 b) { return of(all[a]) > of(all[b]); });
  return order;
}

std::vector<u32> by_time(const std::vector<ThreadUse>& all, bool has_switches) {
  return ranked(all, is_used, [&](const ThreadUse& use) {
    return has_switches ? use.running : use.sampled.all.time;
  });
}

std::vector<u32> by_samples(const std::vector<SampledUse>& all) {
  return ranked(
      all, [](const SampledUse& use) { return use.all.samples > 0; },
      [](const SampledUse& use) {
        return std::pair{use.all.time, use.all.samples};
      });
}

}  // namespace

bool is_used(const ThreadUse& use) {
  return use.sampled.all.samples > 0 || use.turns > 0;
}

std::vector<u32> CpuTables::processes() const {
  return by_time(use.processes(), use.has_switches());
}

std::vector<u32> CpuTables::threads() const {
  return by_time(use.threads(), use.has_switches());
}

std::vector<u32> CpuTables::modules() const {
  return by_samples(use.modules());
}

std::vector<u32> CpuTables::functions() const {
  return by_samples(use.functions());
}

std::vector<u32> CpuTables::routines() const {
  return ranked(
      use.routines(), [](const RoutineUse&) { return true; },
      [](const RoutineUse& routine) { return routine.exclusive; });
}

u32 CpuTables::processors() const {
  return static_cast<u32>(std::max(use.processors().size(), use.schedule().processors().size()));
}

ProcessorShare CpuTables::share_of(u32 processor) const {
  return processor < use.processors().size() ? use.processors()[processor] : ProcessorShare{};
}

ProcessorSchedule CpuTables::schedule_of(u32 processor) const {
  const auto& all = use.schedule().processors();
  return processor < all.size() ? all[processor] : ProcessorSchedule{};
}

std::optional<i64> CpuTables::if_switches(i64 ticks) const {
  if (!use.has_switches()) return std::nullopt;
  return times.duration(ticks);
}

std::optional<i64> CpuTables::if_interrupts(i64 ticks) const {
  if (!use.has_interrupts()) return std::nullopt;
  return times.duration(ticks);
}

std::optional<i64> CpuTables::interrupted(const ThreadUse& thread) const {
  if (!use.has_switches()) return std::nullopt;
  return if_interrupts(thread.interrupted);
}

std::optional<i64> CpuTables::difference(const ThreadUse& thread) const {
  const auto ticks = use.difference(thread);
  if (!ticks) return std::nullopt;
  return times.duration(*ticks);
}

std::optional<std::string_view> CpuTables::module_or_null(u32 module) const {
  if (module == trace_analysis::CodeNames::no_module) return std::nullopt;
  return code.modules()[module];
}

}  // namespace coldtrace::cli
