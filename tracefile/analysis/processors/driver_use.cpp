#include "coldtrace/trace_analysis/processors/driver_use.hpp"

#include <algorithm>
#include <map>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

i64 DriverUse::time() const {
  i64 both = in_dpc;
  add_ticks(both, in_isr);
  return both;
}

std::vector<DriverUse> drivers_of(const std::vector<RoutineUse>& routines) {
  std::map<u32, DriverUse> drivers;
  for (const auto& one : routines) {
    auto& driver = drivers.try_emplace(one.code.module, DriverUse{one.code.module}).first->second;
    const bool is_isr = one.routine.kind == Service::Kind::isr;
    (is_isr ? driver.isrs : driver.dpcs) += one.runs;
    add_ticks(is_isr ? driver.in_isr : driver.in_dpc, one.exclusive);
  }
  std::vector<DriverUse> all;
  for (const auto& [module, driver] : drivers) all.push_back(driver);
  std::stable_sort(all.begin(), all.end(),
                   [](const DriverUse& a, const DriverUse& b) { return a.time() > b.time(); });
  return all;
}

}  // namespace coldtrace::trace_analysis
