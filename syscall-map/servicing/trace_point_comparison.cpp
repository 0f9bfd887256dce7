#include "coldtrace/syscall-map/servicing/trace_point_comparison.hpp"

#include <map>

#include "coldtrace/syscall-map/trace-points/trace_planner.hpp"
#include "syscall-map/code/disassembly.hpp"

namespace coldtrace::syscall_map {
namespace {

// A plan of many has refusals that say nothing of the place alone.
bool is_of_plan(TraceRefusal refusal) {
  return refusal == TraceRefusal::duplicate_address || refusal == TraceRefusal::duplicate_function;
}

std::map<std::string, TraceablePlace> places_of(const KernelView& kernel) {
  static const std::vector<NamedPlace> no_symbols;
  static const std::vector<HookService> no_services;
  const std::vector<std::string> all{"*"};
  core::Findings ignored;  // refusals are what is asked for
  std::map<std::string, TraceablePlace> places;
  for (const auto& point : plan_trace_points(kernel, all, {no_symbols, no_services}, ignored)) {
    if (!point.rva) continue;
    auto& place = places[point.requested];
    place.rva = *point.rva;
    for (const auto& reason : point.refusals)
      if (!is_of_plan(reason.code)) place.refusals.push_back(reason.code);
  }
  return places;
}

u64 count_eligible(const std::map<std::string, TraceablePlace>& places) {
  u64 count = 0;
  for (const auto& [name, place] : places) count += place.eligible();
  return count;
}

}  // namespace

std::optional<TracePointComparison> compare_trace_points(const KernelView& before,
                                                         const KernelView& after) {
  if (!Disassembler::supports(before.image().machine()) ||
      !Disassembler::supports(after.image().machine()))
    return std::nullopt;
  const auto old_places = places_of(before);
  const auto new_places = places_of(after);
  TracePointComparison comparison{count_eligible(old_places), count_eligible(new_places), 0, 0, {}};
  for (const auto& [name, place] : old_places) {
    const auto other = new_places.find(name);
    if (other == new_places.end() || other->second.refusals == place.refusals) continue;
    comparison.refused += place.eligible();
    comparison.admitted += other->second.eligible();
    comparison.changes.push_back({name, place, other->second});
  }
  return comparison;
}

}  // namespace coldtrace::syscall_map
