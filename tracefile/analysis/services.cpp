#include "coldtrace/trace_analysis/services.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/ticks.hpp"
#include "tracefile/analysis/grown.hpp"

namespace coldtrace::trace_analysis {

void Services::begin(const Observed& observed) {
  losses_ = &observed.losses;
  totals_.begin(observed);
  clocks_.begin(observed);
  pairs_.begin(observed);
  interruptions_.begin(observed);
}

u32 Services::number_of(const Service& service, i64 time) {
  if (!has_address(service.kind)) return totals_.number_of(service, {});
  return totals_.number_of(service, code_.find(std::nullopt, service.number, time));
}

void Services::on_switch(const ContextSwitch& record) {
  clocks_.on_switch(record);
  interruptions_.on_switch(record);
}

void Services::on_service_name(const ServiceName& record) {
  names_.try_emplace(record.service, record.name);
}

std::string_view Services::name_of(const Service& service) const {
  const auto known = names_.find(service);
  return known == names_.end() ? std::string_view{} : known->second;
}

Services::Stack* Services::stack_of(const CallRecord& record) {
  if (record.threadless) return &processors_[record.moment.cpu.value_or(0)];
  if (record.thread == nobody) return nullptr;
  return &grown(threads_, record.thread);
}

void Services::on_call(const CallRecord& record) {
  if (record.service && record.service->kind == Service::Kind::event_pair &&
      (record.key || record.thread != nobody)) {
    pairs_.on_call(record, number_of(*record.service, record.moment.time));
    return;
  }
  auto* const stack = stack_of(record);
  if (stack == nullptr)
    ++without_thread_;
  else if (record.enters)
    enter(*stack, record);
  else
    leave(*stack, record);
}

void Services::enter(Stack& stack, const CallRecord& record) {
  const auto time = record.moment.time;
  const auto service = number_of(*record.service, time);
  if (stack.size() == deepest) {
    totals_.add_open(service);
    return;
  }
  stack.push_back({service, time, 0, clocks_.read(record.thread, time)});
}

void Services::leave(Stack& stack, const CallRecord& record) {
  if (!record.service) {
    if (stack.empty())
      ++nameless_returns_;
    else
      close(stack, record);
    return;
  }
  const auto service = number_of(*record.service, record.moment.time);
  const auto from = std::find_if(stack.rbegin(), stack.rend(),
                                 [&](const Open& call) { return call.service == service; });
  if (from == stack.rend()) {
    totals_.add_unmatched(service, record.moment.time);
    // Some of the time so far was in a call that was not seen to begin.
    if (!stack.empty()) stack.back().inside = ticks_between(stack.back().begin, record.moment.time);
    return;
  }
  // How long those inside took that never return nothing says: whose the time is since they began
  // is not known.
  const auto inside = static_cast<std::size_t>(stack.rend() - from);
  if (inside < stack.size())
    add_ticks(stack[inside - 1].inside, ticks_between(stack[inside].begin, record.moment.time));
  abandon(stack, inside);
  close(stack, record);
}

// The calls from the given depth on never return.
void Services::abandon(Stack& stack, std::size_t from) {
  for (auto i = from; i < stack.size(); ++i) totals_.add_open(stack[i].service);
  stack.resize(from);
}

void Services::close(Stack& stack, const CallRecord& record) {
  const auto call = stack.back();
  stack.pop_back();
  const auto end = record.moment.time;
  if (end < call.begin || losses_->anywhere(call.begin, end) ||
      losses_->misses_switches(call.begin, end)) {
    totals_.add_untimed(call.service, end);
    return;
  }
  TimedCall timed{call.service, call.begin, end};
  timed.inside = call.inside;
  timed.is_inner = std::any_of(stack.begin(), stack.end(),
                               [&](const Open& outer) { return outer.service == call.service; });
  timed.ran = ThreadClocks::between(call.clock, clocks_.read(record.thread, end));
  timed.cycles = record.cycles;
  totals_.add(timed);
  if (stack.empty()) return;
  const auto inclusive = ticks_between(call.begin, end);
  add_ticks(stack.back().inside, inclusive);
  totals_.add_edge(stack.back().service, call.service, inclusive);
}

void Services::on_interruption(const Interruption& record) {
  const auto service = number_of(record.routine, record.moment.time);
  const auto cost = interruptions_.cost_of(record);
  if (!cost) {
    totals_.add_untimed(service, record.moment.time);
    return;
  }
  TimedCall timed{service, record.begin, record.moment.time};
  timed.inside = cost->inclusive - cost->exclusive;
  timed.ran = cost->inclusive;
  totals_.add(timed);
}

void Services::on_thread(const ThreadRecord& record) {
  if (record.life != Life::ends) return;
  pairs_.end_thread(record.thread);
  if (record.thread < threads_.size()) abandon(threads_[record.thread], 0);
}

void Services::finish(const Observed&) {
  for (auto& stack : threads_) abandon(stack, 0);
  for (auto& [cpu, stack] : processors_) abandon(stack, 0);
  pairs_.finish();
}

}  // namespace coldtrace::trace_analysis
