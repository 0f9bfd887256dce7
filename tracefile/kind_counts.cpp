#include "tracefile/kind_counts.hpp"

#include <algorithm>
#include <deque>

#include "core/parallel.hpp"

namespace coldtrace::tracefile {

void KindCounts::add(const KindCount& count) {
  const auto& kind = count.kind;
  auto& entry = counts_[{kind.provider, kind.event_class, kind.id, kind.version, kind.name,
                         kind.provider_name}];
  entry.kind = kind;
  for (std::size_t i = 0; i < entry.events.size(); ++i) entry.events[i] += count.events[i];
}

std::vector<KindCount> KindCounts::sorted() const {
  std::vector<KindCount> all;
  for (const auto& [key, count] : counts_) all.push_back(count);
  return all;
}

void KindCounter::add_to(KindCounts& counts) const {
  for (const auto& count : counts_)
    if (count.total() > 0) counts.add(count);
}

std::vector<KindCount> count_kinds(const Trace& trace, unsigned jobs) {
  const auto& buffers = trace.scan().buffers;
  jobs = std::max(jobs, 1U);
  std::vector<KindCounter> counters(jobs);
  std::deque<EventDecoder> decoders;
  for (unsigned i = 0; i < jobs; ++i) decoders.emplace_back(trace.schemas());
  core::parallel_for(jobs, buffers.size(), [&](unsigned worker, u64 index) {
    trace.visit_buffer(buffers[index], [&](const Event& event) {
      const auto& kind = decoders[worker].kind_of(event);
      counters[worker].count(kind, decoders[worker].measure(event, kind).decoded);
    });
  });
  KindCounts all;
  for (const auto& counter : counters) counter.add_to(all);
  return all.sorted();
}

}  // namespace coldtrace::tracefile
