#include "coldtrace/trace_analysis/services/services.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

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
  if (record.threadless) return record.moment.cpu ? &processors_[*record.moment.cpu] : nullptr;
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
    const auto outermost = stack.front();
    stack.erase(stack.begin());
    totals_.add_open(outermost.service);
    if (outermost.withheld.inclusive > 0) totals_.add(outermost.service, outermost.withheld);
  }
  stack.push_back({service, time, 0, clocks_.read(record.thread, time), {}});
}

void Services::leave(Stack& stack, const CallRecord& record) {
  if (!record.service) {
    if (stack.empty())
      ++unmatched_returns_;
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

bool Services::is_uncertain(i64 from, i64 to) const {
  return losses_->anywhere(from, to) || losses_->misses_switches(from, to);
}

// The calls from the given depth on never return.
void Services::abandon(Stack& stack, std::size_t from) {
  while (stack.size() > from) {
    const auto call = stack.back();
    stack.pop_back();
    totals_.add_open(call.service);
    give_back(stack, call);
  }
}

// Of a call that is not told, whose place in `stack` was the end.
void Services::give_back(Stack& stack, const Open& call) {
  if (call.withheld.inclusive == 0) return;
  const auto outer = std::find_if(stack.rbegin(), stack.rend(),
                                  [&](const Open& one) { return one.service == call.service; });
  if (outer == stack.rend())
    totals_.add(call.service, call.withheld);
  else
    outer->withheld.add(call.withheld);
}

void Services::close(Stack& stack, const CallRecord& record) {
  const auto call = stack.back();
  stack.pop_back();
  const auto end = record.moment.time;
  if (end < call.begin || is_uncertain(call.begin, end)) {
    totals_.add_untimed(call.service, end);
    give_back(stack, call);
    return;
  }
  // One whose return may be missing may have ended before this one began.
  const auto may_be_over = [&](const Open& outer) { return is_uncertain(outer.begin, call.begin); };
  const auto outer = std::find_if(stack.rbegin(), stack.rend(), [&](const Open& one) {
    return one.service == call.service && !may_be_over(one);
  });
  TimedCall timed{call.service, call.begin, end};
  timed.inside = call.inside;
  timed.is_inner = outer != stack.rend();
  timed.ran = ThreadClocks::between(call.clock, clocks_.read(record.thread, end));
  timed.cycles = record.cycles;
  totals_.add(timed);
  if (each_) each_({call.service, call.begin, record.moment, record.thread, stack.empty()});
  const auto inclusive = ticks_between(call.begin, end);
  if (timed.is_inner) outer->withheld.add({inclusive, timed.ran, end});
  if (stack.empty()) return;
  add_ticks(stack.back().inside, inclusive);
  if (!may_be_over(stack.back())) totals_.add_edge(stack.back().service, call.service, inclusive);
}

void Services::on_interruption(const Interruption& record) {
  const auto service = number_of(record.routine, record.moment.time);
  const auto cost = interruptions_.cost_of(record);
  if (!cost) {
    totals_.add_untimed(service, record.moment.time);
    if (each_ && record.begin < losses_->first().value_or(record.begin))
      each_({service, record.begin, record.moment, nobody, false});
    return;
  }
  TimedCall timed{service, record.begin, record.moment.time};
  timed.inside = cost->inclusive - cost->exclusive;
  timed.ran = cost->inclusive;
  totals_.add(timed);
  if (each_) each_({service, record.begin, record.moment, nobody, false});
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
