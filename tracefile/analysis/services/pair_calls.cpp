#include "coldtrace/trace_analysis/services/pair_calls.hpp"

#include <algorithm>
#include <iterator>

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void PairCalls::on_call(const CallRecord& record, u32 service) {
  if (record.key) return on_key(record, service);
  auto& open = threads_[record.thread];
  if (!record.enters) return leave(open, record, service);
  if (open.size() == most_of_thread) {
    const auto oldest = open.front();
    open.erase(open.begin());
    totals_.add_open(oldest.service);
    give_back(open, open.begin(), oldest);
  }
  const auto time = record.moment.time;
  open.push_back({service, time, 0, time, clocks_.read(record.thread, time)});
}

bool PairCalls::is_timed(const Open& call, i64 end) {
  if (call.begin <= end && !losses_->anywhere(call.begin, end) &&
      !losses_->misses_switches(call.begin, end))
    return true;
  totals_.add_untimed(call.service, end);
  return false;
}

void PairCalls::leave(Opened& open, const CallRecord& record, u32 service) {
  const auto end = record.moment.time;
  const auto of_service = [service](const Open& call) { return call.service == service; };
  const auto found = std::find_if(open.rbegin(), open.rend(), of_service);
  if (found == open.rend()) {
    totals_.add_unmatched(service, end);
    // Some of the time so far was in one that was not seen to begin.
    for (auto& call : open) {
      call.inside = ticks_between(call.begin, end);
      call.covered = end;
    }
    return;
  }
  const auto place = std::prev(found.base());
  auto call = *place;
  const auto caller = open.erase(place);
  if (caller != open.end())
    add_ticks(call.inside, ticks_between(std::max(caller->begin, call.covered), end));
  if (!is_timed(call, end)) return give_back(open, caller, call);
  const auto outer_one = std::find_if(std::reverse_iterator{caller}, open.rend(), of_service);
  TimedCall timed{service, call.begin, end};
  timed.inside = call.inside;
  timed.is_inner = outer_one != open.rend();
  timed.ran = ThreadClocks::between(call.clock, clocks_.read(record.thread, end));
  totals_.add(timed);
  if (timed.is_inner) outer_one->withheld.add({ticks_between(call.begin, end), timed.ran, end});
  if (caller == open.begin()) return;
  auto& outer = *std::prev(caller);
  add_ticks(outer.inside, ticks_between(std::max(call.begin, outer.covered), end));
  outer.covered = std::max(outer.covered, end);
  totals_.add_edge(outer.service, service, ticks_between(call.begin, end));
}

// Of one that is not told, which lay in front of `end`.
void PairCalls::give_back(Opened& open, Opened::iterator end, const Open& call) {
  if (call.withheld.inclusive == 0) return;
  const auto outer = std::find_if(std::reverse_iterator{end}, open.rend(),
                                  [&](const Open& one) { return one.service == call.service; });
  if (outer == open.rend())
    totals_.add(call.service, call.withheld);
  else
    outer->withheld.add(call.withheld);
}

void PairCalls::on_key(const CallRecord& record, u32 service) {
  const std::pair key{service, *record.key};
  const auto time = record.moment.time;
  const auto known = keys_.find(key);
  if (record.enters) {
    if (known != keys_.end()) {
      totals_.add_open(service);
      known->second = time;
    } else if (keys_.size() == most_of_keys) {
      totals_.add_open(service);
    } else {
      keys_.emplace(key, time);
    }
    return;
  }
  if (known == keys_.end()) {
    totals_.add_unmatched(service, time);
    return;
  }
  const Open call{service, known->second, 0, known->second, std::nullopt};
  keys_.erase(known);
  if (is_timed(call, time)) totals_.add({service, call.begin, time});
}

void PairCalls::abandon(Opened& open) {
  while (!open.empty()) {
    const auto call = open.back();
    open.pop_back();
    totals_.add_open(call.service);
    give_back(open, open.end(), call);
  }
}

void PairCalls::end_thread(Index thread) {
  const auto known = threads_.find(thread);
  if (known == threads_.end()) return;
  abandon(known->second);
  threads_.erase(known);
}

void PairCalls::finish() {
  for (auto& [thread, open] : threads_) abandon(open);
  for (const auto& [key, begin] : keys_) totals_.add_open(key.first);
}

}  // namespace coldtrace::trace_analysis
