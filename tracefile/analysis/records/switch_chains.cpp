#include "tracefile/analysis/records/switch_chains.hpp"

#include <algorithm>

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void SwitchChains::add(const tracefile::Event& event) {
  if (!event.cpu) return;
  const auto& plan = plans_.of(event);
  if (plan.known == nullptr || plan.known->record != RecordKind::context_switch) return;
  plan.fields.take(event, values_);
  const auto old_tid = values_.get<u32>(Field::old_thread);
  const auto new_tid = values_.get<u32>(Field::new_thread);
  if (!old_tid || !new_tid) return;
  auto& runner = grown(runners_, *event.cpu);
  const auto time = event.name_time();
  if (runner.tid && *runner.tid != *old_tid)
    broken_[*event.cpu].push_back({runner.since, std::max(runner.since, time)});
  if (runner.tid && time < runner.since) ++backward_;
  runner = {new_tid, time};
}

}  // namespace coldtrace::trace_analysis
