#include "cli/trace/analysis/processors/cpu_tables.hpp"

#include <algorithm>
#include <functional>

namespace coldtrace::cli {
namespace {

using trace_analysis::DriverUse;
using trace_analysis::ProcessorSchedule;
using trace_analysis::ProcessorShare;
using trace_analysis::RoutineUse;
using trace_analysis::SampledUse;
using trace_analysis::ThreadUse;

// A trace without samples still counts turns.
std::vector<u32> users(const CpuTables& tables, const std::vector<ThreadUse>& all) {
  const bool has_switches = tables.use.has_switches();
  if (tables.order == RowOrder::time)
    return most_first(all, is_used, [&](const ThreadUse& use) {
      return has_switches ? use.running : use.sampled.all.time;
    });
  return most_first(all, is_used, [](const ThreadUse& use) {
    return std::pair{use.sampled.all.samples, use.turns};
  });
}

std::vector<u32> sampled(const CpuTables& tables, const std::vector<SampledUse>& all) {
  const auto has_samples = [](const SampledUse& use) { return use.all.samples > 0; };
  if (tables.order == RowOrder::time)
    return most_first(all, has_samples, [](const SampledUse& use) {
      return std::pair{use.all.time, use.all.samples};
    });
  return most_first(all, has_samples, [](const SampledUse& use) { return use.all.samples; });
}

}  // namespace

bool is_used(const ThreadUse& use) {
  return use.sampled.all.samples > 0 || use.turns > 0;
}

std::vector<u32> CpuTables::processes() const {
  return users(*this, use.processes());
}

std::vector<u32> CpuTables::threads() const {
  return users(*this, use.threads());
}

std::vector<u32> CpuTables::modules() const {
  return sampled(*this, use.modules());
}

std::vector<u32> CpuTables::functions() const {
  return sampled(*this, use.functions());
}

std::vector<u32> CpuTables::routines() const {
  return most_first(
      use.routines(), [](const RoutineUse&) { return true; },
      [this](const RoutineUse& routine) {
        return order == RowOrder::count ? static_cast<i64>(routine.runs) : routine.exclusive;
      });
}

std::vector<DriverUse> CpuTables::drivers() const {
  auto all = drivers_of(use.routines());
  if (order == RowOrder::count)
    std::ranges::stable_sort(all, std::greater{},
                             [](const DriverUse& one) { return one.dpcs + one.isrs; });
  return all;
}

ProcessorShare CpuTables::share_of(u16 processor) const {
  const auto known = use.processors().find(processor);
  return known != use.processors().end() ? known->second : ProcessorShare{};
}

ProcessorSchedule CpuTables::schedule_of(u16 processor) const {
  const auto& all = use.schedule().processors();
  const auto known = all.find(processor);
  if (known != all.end()) return known->second;
  ProcessorSchedule unswitched;
  unswitched.unknown = use.schedule().elapsed();
  return unswitched;
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
