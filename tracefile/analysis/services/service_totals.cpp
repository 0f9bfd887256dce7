#include "coldtrace/trace_analysis/services/service_totals.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/byte_sums.hpp"

namespace coldtrace::trace_analysis {

void CallSums::add(const TimedCall& call) {
  const auto time = ticks_between(call.begin, call.end);
  ++calls;
  add_ticks(exclusive, std::max<i64>(0, time - call.inside));
  if (call.cycles) {
    auto sum = cycles.value_or(0);
    add_bytes(sum, *call.cycles);
    cycles = sum;
    ++measured;
  }
  if (!call.is_inner) add({time, call.ran, call.end});
}

void CallSums::add(const WithheldTime& withheld) {
  add_ticks(inclusive, withheld.inclusive);
  if (!withheld.ran) return;
  auto ran = on_processor.value_or(0);
  add_ticks(ran, *withheld.ran);
  on_processor = ran;
}

void WithheldTime::add(const WithheldTime& other) {
  add_ticks(inclusive, other.inclusive);
  if (other.ran) {
    auto sum = ran.value_or(0);
    add_ticks(sum, *other.ran);
    ran = sum;
  }
  end = std::max(end, other.end);
}

u32 ServiceTotals::number_of(const Service& service, CodeNames::Code code) {
  const auto [place, added] = numbers_.try_emplace({service, code.module, code.function},
                                                   static_cast<u32>(services_.size()));
  if (added) {
    auto& sums = services_.emplace_back();
    sums.service = service;
    sums.code = code;
  }
  return place->second;
}

PeriodSums* ServiceTotals::row_of(u32 service, i64 time) {
  if (!periods_) return nullptr;
  const std::pair key{periods_->number_of(time, first()), service};
  if (const auto known = rows_.find(key); known != rows_.end()) return &known->second;
  if (rows_.size() == most_rows) {
    ++left_out_;
    return nullptr;
  }
  return &rows_[key];
}

void ServiceTotals::add(const TimedCall& call) {
  const auto time = ticks_between(call.begin, call.end);
  auto& sums = services_[call.service];
  sums.add(call);
  sums.times.add(static_cast<u64>(time));
  if (call.cycles) sums.cycles_of_calls.add(*call.cycles);
  auto* const row = row_of(call.service, call.end);
  if (row == nullptr) return;
  row->add(call);
  add_ticks(row->total, time);
  if (periods_->number_of(call.begin, first()) < periods_->number_of(call.end, first()))
    ++row->begun_before;
}

void ServiceTotals::add(u32 service, const WithheldTime& withheld) {
  services_[service].add(withheld);
  if (auto* const row = row_of(service, withheld.end)) row->add(withheld);
}

void ServiceTotals::count(u64 CallSums::*what, u32 service, i64 time) {
  ++(services_[service].*what);
  if (auto* const row = row_of(service, time)) ++(row->*what);
}

void ServiceTotals::add_edge(u32 caller, u32 callee, i64 inclusive) {
  const auto [place, added] =
      edge_numbers_.try_emplace({caller, callee}, static_cast<u32>(edges_.size()));
  if (added) edges_.push_back({caller, callee});
  auto& edge = edges_[place->second];
  ++edge.calls;
  add_ticks(edge.inclusive, inclusive);
}

std::vector<u32> costliest_first(const std::vector<ServiceSums>& services,
                                 const std::vector<bool>& wanted) {
  std::vector<u32> numbers;
  for (u32 i = 0; i < services.size(); ++i)
    if (wanted[i]) numbers.push_back(i);
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](u32 a, u32 b) { return services[a].inclusive > services[b].inclusive; });
  return numbers;
}

}  // namespace coldtrace::trace_analysis
