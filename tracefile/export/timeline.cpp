#include "coldtrace/trace_export/timeline.hpp"

#include "coldtrace/trace_analysis/records/counter_ticks.hpp"
#include "coldtrace/tracefile/selection/event_context.hpp"

namespace coldtrace::trace_export {
namespace {

using tracefile::EventSelection;

// Threads are chosen by what happens to them, which is not what the headers of all events say.
EventSelection events_of(const EventSelection& selection) {
  auto of_events = selection;
  of_events.processes.clear();
  of_events.tids.clear();
  of_events.from.reset();
  of_events.to.reset();
  return of_events;
}

}  // namespace

Timeline::Timeline(core::Borrowed<tracefile::AnyTrace> given, const EventSelection& selection,
                   trace_analysis::CodeNames& code, TimelineSink& sink)
    : chosen_{selection},
      of_events_{events_of(selection)},
      sink_{sink},
      regions_{given.get().schemas(), given.get().clock(),
               [this](const Region& region) {
                 ++shown_;
                 sink_.on_region(region);
               }},
      turns_{[this](const Turn& turn) { end_turn(turn); }},
      services_{code, std::nullopt,
                [this](const Services::Seen& seen) {
                  if (!is_wanted(seen.thread)) return;
                  ++shown_;
                  sink_.on_call(seen);
                }},
      disks_{trace_analysis::CounterTicks{given.get()},
             [this](const DiskRequest& request) {
               if (!is_wanted(request.thread)) return;
               ++shown_;
               sink_.on_disk_request(request);
             }},
      files_{given.get().names(), [this](const FileOperation& operation) {
               if (!is_wanted(operation.thread)) return;
               ++shown_;
               sink_.on_file_operation(operation);
             }} {
  if (!of_events_.all())
    selector_.emplace(tracefile::event_context_of(given, given.get().schemas()), of_events_);
}

std::optional<core::NoMatch> Timeline::unmatched() const {
  if (!selector_) return std::nullopt;
  return selector_->unmatched();
}

bool Timeline::is_chosen(Index thread) const {
  return chosen_.has(observed_->population, thread);
}

void Timeline::on_event(const tracefile::Event& event, Index thread) {
  event_wanted_ = !selector_ || selector_->wants(event);
  regions_.on_event(event, thread, is_wanted(thread));
}

void Timeline::begin(const Observed& observed) {
  observed_ = &observed;
  regions_.begin(observed.losses);
  turns_.begin(observed);
  services_.begin(observed);
  disks_.begin(observed);
  files_.begin(observed);
}

void Timeline::end_turn(const Turn& turn) {
  if (!at_end_)
    ended_ = turn;
  else if (turn.cpu < is_shown_.size() && is_shown_[turn.cpu])
    sink_.on_last_turn(turn, observed_->losses.on(turn.cpu, turn.begin, *observed_->last));
}

void Timeline::on_switch(const ContextSwitch& record) {
  const auto repeated = turns_.counts().repeated;
  ended_.reset();
  turns_.on_switch(record);
  services_.on_switch(record);
  if (turns_.counts().repeated != repeated) return;
  const auto cpu = *record.moment.cpu;
  if (cpu >= is_shown_.size()) is_shown_.resize(std::size_t{cpu} + 1);
  is_shown_[cpu] = is_wanted(record.new_thread);
  if (is_shown_[cpu]) ++shown_;
  sink_.on_switch(record, ended_ ? &*ended_ : nullptr, is_shown_[cpu]);
}

void Timeline::on_ready(const Readied& record) {
  const auto superfluous = turns_.counts().superfluous;
  turns_.on_ready(record);
  if (turns_.counts().superfluous == superfluous && is_wanted(record.thread))
    sink_.on_ready(record);
}

void Timeline::on_thread(const trace_analysis::ThreadRecord& record) {
  turns_.on_thread(record);
  services_.on_thread(record);
  if (record.life == trace_analysis::Life::ends) regions_.end_thread(record.thread);
}

void Timeline::finish(const Observed& observed) {
  at_end_ = true;
  turns_.finish(observed);
  services_.finish(observed);
  files_.finish(observed);
  sink_.finish(observed);
}

}  // namespace coldtrace::trace_export
