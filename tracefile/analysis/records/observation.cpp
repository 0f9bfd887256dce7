#include "coldtrace/trace_analysis/records/observation.hpp"

#include <algorithm>

#include "tracefile/analysis/records/record_reader.hpp"

namespace coldtrace::trace_analysis {

using tracefile::EventSequence;

Observation::Observation(core::Borrowed<tracefile::AnyTrace> trace,
                         const tracefile::StreamOptions& options)
    : trace_{trace.get()},
      options_{options},
      population_{trace_.names()},
      losses_{Losses::find(trace_, options)} {}

void Observation::run(std::span<Analysis* const> analyses, EventPairs* pairs,
                      EventWitness* witness) {
  for (auto* const analysis : analyses) analysis->begin(observed_);
  RecordReader reader{
      trace_.schemas(), trace_.names().stacks(), losses_, population_, analyses, pairs};
  const auto events = trace_.stream(options_);
  for (auto item = events->next(); item != EventSequence::Item::end; item = events->next()) {
    if (item != EventSequence::Item::event) continue;
    const auto& event = events->event();
    ++observed_.events;
    observed_.first = losses_.first();
    observed_.last = std::max(observed_.last.value_or(event.name_time()), event.name_time());
    population_.set_time(event.name_time());
    if (witness != nullptr) witness->on_event(event, reader.thread_of(event.tid, event.cpu));
    if (reader.read(event)) ++observed_.records;
  }
  observed_.unreadable = reader.unreadable();
  unread_buffers_ = std::max(losses_.unread_buffers(), events->unread_buffers());
  reader.finish();
  for (auto* const analysis : analyses) analysis->finish(observed_);
}

}  // namespace coldtrace::trace_analysis
