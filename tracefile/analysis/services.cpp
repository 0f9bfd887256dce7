#include "coldtrace/trace_analysis/services.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/ticks.hpp"
#include "tracefile/analysis/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

void add_ran(ServiceSums& sums, i64 ticks) {
  auto ran = sums.on_processor.value_or(0);
  add_ticks(ran, ticks);
  sums.on_processor = ran;
}

}  // namespace

void Services::begin(const Observed& observed) {
  losses_ = &observed.losses;
  interruptions_.begin(observed);
}

u32 Services::number_of(const Service& service) {
  const auto [place, added] = numbers_.try_emplace(service, static_cast<u32>(services_.size()));
  if (added) services_.push_back({.service = service});
  return place->second;
}

// The time that a thread has run is a clock of its own, which stands still while it waits.
void Services::on_switch(const ContextSwitch& record) {
  const auto most = std::max(record.old_thread, record.new_thread);
  if (most >= threads_.size()) threads_.resize(std::size_t{most} + 1);
  const auto time = record.moment.time;
  auto& old = threads_[record.old_thread];
  if (old.runs_since && record.continues && *old.runs_since <= time &&
      !losses_->on(*record.moment.cpu, *old.runs_since, time))
    add_ticks(old.ran, ticks_between(*old.runs_since, time));
  else
    for (auto& call : old.calls) call.ran.reset();
  old.runs_since.reset();
  old.ran_known = true;
  auto& next = threads_[record.new_thread];
  next.runs_since = time;
  next.ran_known = true;
  interruptions_.on_switch(record);
}

std::optional<i64> Services::ran(const Stack& stack, i64 time) const {
  if (!stack.ran_known) return std::nullopt;
  auto ran = stack.ran;
  if (stack.runs_since) add_ticks(ran, ticks_between(*stack.runs_since, time));
  return ran;
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
  auto* const stack = stack_of(record);
  if (stack == nullptr) {
    ++without_thread_;
    return;
  }
  if (record.enters)
    enter(*stack, record);
  else
    leave(*stack, record);
}

void Services::enter(Stack& stack, const CallRecord& record) {
  const auto service = number_of(*record.service);
  if (stack.calls.size() == deepest) {
    ++services_[service].open;
    return;
  }
  stack.calls.push_back({service, record.moment.time, 0, ran(stack, record.moment.time)});
}

void Services::leave(Stack& stack, const CallRecord& record) {
  if (!record.service) {
    if (stack.calls.empty())
      ++nameless_returns_;
    else
      close(stack, record);
    return;
  }
  const auto service = number_of(*record.service);
  const auto from = std::find_if(stack.calls.rbegin(), stack.calls.rend(),
                                 [&](const Open& call) { return call.service == service; });
  if (from == stack.calls.rend()) {
    ++services_[service].unmatched;
    // Some of the time so far was in a call that was not seen to begin.
    if (!stack.calls.empty())
      stack.calls.back().inside = ticks_between(stack.calls.back().begin, record.moment.time);
    return;
  }
  // How long those inside took that never return nothing says: whose the time is since they began
  // is not known.
  const auto inside = static_cast<std::size_t>(stack.calls.rend() - from);
  if (inside < stack.calls.size())
    add_ticks(stack.calls[inside - 1].inside,
              ticks_between(stack.calls[inside].begin, record.moment.time));
  abandon(stack, inside);
  close(stack, record);
}

// The calls from the given depth on never return.
void Services::abandon(Stack& stack, std::size_t from) {
  for (auto i = from; i < stack.calls.size(); ++i) ++services_[stack.calls[i].service].open;
  stack.calls.resize(from);
}

void Services::close(Stack& stack, const CallRecord& record) {
  const auto call = stack.calls.back();
  stack.calls.pop_back();
  auto& sums = services_[call.service];
  const auto end = record.moment.time;
  if (end < call.begin || losses_->anywhere(call.begin, end)) {
    ++sums.untimed;
    return;
  }
  const auto inclusive = ticks_between(call.begin, end);
  ++sums.calls;
  sums.times.add(static_cast<u64>(inclusive));
  add_ticks(sums.exclusive, std::max<i64>(0, inclusive - call.inside));
  if (record.cycles) sums.cycles = sums.cycles.value_or(0) + *record.cycles;
  const bool recursive =
      std::any_of(stack.calls.begin(), stack.calls.end(),
                  [&](const Open& outer) { return outer.service == call.service; });
  if (!recursive) {
    add_ticks(sums.inclusive, inclusive);
    const auto now = ran(stack, end);
    if (now && call.ran) add_ran(sums, ticks_between(*call.ran, *now));
  }
  if (stack.calls.empty()) return;
  add_ticks(stack.calls.back().inside, inclusive);
  add_edge(stack.calls.back().service, call.service, inclusive);
}

void Services::add_edge(u32 caller, u32 callee, i64 inclusive) {
  const auto [place, added] =
      edge_numbers_.try_emplace({caller, callee}, static_cast<u32>(edges_.size()));
  if (added) edges_.push_back({caller, callee});
  auto& edge = edges_[place->second];
  ++edge.calls;
  add_ticks(edge.inclusive, inclusive);
}

void Services::on_interruption(const Interruption& record) {
  auto& sums = services_[number_of(record.routine)];
  const auto cost = interruptions_.cost_of(record);
  if (!cost) {
    ++sums.untimed;
    return;
  }
  ++sums.calls;
  sums.times.add(static_cast<u64>(cost->inclusive));
  add_ticks(sums.inclusive, cost->inclusive);
  add_ticks(sums.exclusive, cost->exclusive);
  add_ran(sums, cost->inclusive);
}

void Services::on_thread(const ThreadRecord& record) {
  if (record.life != Life::ends || record.thread >= threads_.size()) return;
  abandon(threads_[record.thread], 0);
}

void Services::finish(const Observed&) {
  for (auto& stack : threads_) abandon(stack, 0);
  for (auto& [cpu, stack] : processors_) abandon(stack, 0);
}

}  // namespace coldtrace::trace_analysis
