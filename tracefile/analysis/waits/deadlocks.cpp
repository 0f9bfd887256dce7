#include "coldtrace/trace_analysis/waits/deadlocks.hpp"

#include <algorithm>
#include <tuple>

namespace coldtrace::trace_analysis {

bool Deadlocks::Deadlock::proved() const {
  return std::all_of(members.begin(), members.end(),
                     [](const Member& member) { return member.left_processor; });
}

std::vector<u64> Deadlocks::live_of(Index thread) const {
  const auto place = live_of_thread_.find(thread);
  return place == live_of_thread_.end() ? std::vector<u64>{} : place->second;
}

void Deadlocks::forget(u64 number) {
  for (const auto& member : live_.at(number).deadlock.members) {
    const auto place = live_of_thread_.find(member.place.thread);
    auto& numbers = place->second;
    numbers.erase(std::find(numbers.begin(), numbers.end(), number));
    if (numbers.empty()) live_of_thread_.erase(place);
  }
  live_.erase(number);
}

void Deadlocks::on_switch(const ContextSwitch& record) {
  waits_.switched(record);
  wakes_.switched(record);
  if (live_.empty()) return;
  const auto* const old = waits_.find(record.old_thread);
  if (old != nullptr && old->left_processor)
    for (const auto number : live_of(record.old_thread)) {
      auto& live = live_.at(number);
      for (auto& member : live.deadlock.members)
        if (member.place.thread == record.old_thread) member.left_processor = true;
      if (live.ran && live.ran->thread == record.old_thread) live.ran.reset();
    }
  const auto* const next = waits_.find(record.new_thread);
  if (next != nullptr && next->came_back)
    for (const auto number : live_of(record.new_thread)) {
      auto& live = live_.at(number);
      if (!live.ran) live.ran = End{record.moment, record.new_thread, std::nullopt, nobody};
    }
}

void Deadlocks::on_ready(const Readied& record) {
  wakes_.readied(record, observed_->losses);
}

void Deadlocks::taken(std::span<const OpenWaits::Ended> waits) {
  for (const auto& wait : waits) {
    const auto kind = waits_.objects().all()[wait.object].waited.kind;
    mutants_.ended(wait, kind);
    if (MutantOwners::can_own(kind) && wait.how == OpenWaits::How::taken)
      order_.taken(wait.thread, wait.object, wait.end);
  }
}

// A wait of which an object more is told was not whole when it closed something.
void Deadlocks::on_wait_begin(const WaitBegin& record) {
  names_objects_ = names_objects_ || !record.objects.empty();
  const auto* const before = waits_.find(record.thread);
  const auto since = before == nullptr ? std::optional<Moment>{} : before->since;
  taken(waits_.begin(record, observed_->population));
  const bool joined = since && waits_.find(record.thread)->since.place == since->place;
  if (joined)
    drop_all(record.thread);
  else
    break_all({record.moment, record.thread, std::nullopt, nobody});
  search(record.thread, record.moment);
}

void Deadlocks::on_wait_end(const WaitEnd& record) {
  if (waits_.find(record.thread) != nullptr)
    break_all({record.moment, record.thread, record.status, record.running});
  taken(waits_.end(record));
}

void Deadlocks::on_thread(const ThreadRecord& record) {
  if (record.life == Life::ends) {
    break_all({record.moment, record.thread, std::nullopt, nobody});
    order_.thread_gone(record.thread);
    wakes_.ended(record.thread);
  }
  taken(waits_.thread(record, observed_->population));
}

void Deadlocks::search(Index thread, const Moment& moment) {
  if (!knots_) knots_.emplace(waits_, mutants_, observed_->population, observed_->losses);
  const auto knot = knots_->find(thread, moment.time);
  if (!knot) return;
  if (live_.size() + deadlocks_.size() >= most_deadlocks) {
    ++left_out_;
    return;
  }
  Live live{{knot->cycle, moment, {}, {}, std::nullopt, false}, std::nullopt};
  for (const auto& member : knot->members) {
    const auto& waiting = *waits_.find(member.thread);
    live.deadlock.members.push_back({member, waiting.since, waiting.left_processor});
    live_of_thread_[member.thread].push_back(next_);
  }
  live_.emplace(next_++, std::move(live));
}

void Deadlocks::break_all(const End& end) {
  for (const auto number : live_of(end.thread)) {
    auto live = live_.at(number);
    forget(number);
    live.deadlock.end = end;
    keep(std::move(live), end.moment.time);
  }
}

void Deadlocks::drop_all(Index thread) {
  for (const auto number : live_of(thread)) forget(number);
}

void Deadlocks::keep(Live live, i64 now) {
  auto& deadlock = live.deadlock;
  if (!deadlock.end) deadlock.end = live.ran;
  if (deadlock.end && !deadlock.proved() && any_switch()) {
    ++passing_;
    return;
  }
  deadlock.events_missing = observed_->losses.anywhere(deadlock.closed.time, now);
  std::vector<WaitKnots::Member> members;
  for (const auto& member : deadlock.members) members.push_back(member.place);
  for (const auto& victim : knots_->find_victims(members, now))
    deadlock.victims.push_back({victim, waits_.find(victim.thread)->since});
  deadlocks_.push_back(std::move(deadlock));
}

void Deadlocks::finish(const Observed& observed) {
  const auto now = observed.last.value_or(0);
  for (auto& [number, live] : live_) keep(live, now);
  std::stable_sort(deadlocks_.begin(), deadlocks_.end(), [](const Deadlock& a, const Deadlock& b) {
    return a.closed.time < b.closed.time;
  });
  inversions_ = order_.find_inversions();
  if (names_objects_) return;
  for (Index thread = 0; thread < wakes_.open().size(); ++thread)
    if (const auto& wait = wakes_.open()[thread])
      suspects_.push_back({thread, wait->since, wait->reason});
  std::sort(suspects_.begin(), suspects_.end(), [](const Suspect& a, const Suspect& b) {
    return std::tie(a.since.time, a.thread) < std::tie(b.since.time, b.thread);
  });
}

bool Deadlocks::is_deadlocked(const LockOrder::Inversion& inversion) const {
  std::vector<ObjectIndex> mutants;
  for (const auto& witness : inversion.witnesses) mutants.push_back(witness.held);
  std::sort(mutants.begin(), mutants.end());
  return std::any_of(deadlocks_.begin(), deadlocks_.end(), [&](const Deadlock& deadlock) {
    std::vector<ObjectIndex> waited;
    for (const auto& member : deadlock.members)
      for (const auto& step : member.place.steps) waited.push_back(step.object);
    std::sort(waited.begin(), waited.end());
    return waited == mutants;
  });
}

bool Deadlocks::reached_limit() const {
  return left_out_ > 0 || order_.reached_limit() || (knots_ && knots_->gave_up() > 0) ||
         waits_.objects().left_out() > 0;
}

}  // namespace coldtrace::trace_analysis
