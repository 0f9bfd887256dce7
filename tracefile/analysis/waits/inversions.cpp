#include "coldtrace/trace_analysis/waits/inversions.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"
#include "tracefile/analysis/scheduling/stay_overlap.hpp"

namespace coldtrace::trace_analysis {
namespace {

struct Range {
  i8 low, high;
};

// In which the priority of the thread was, as far as the switches show; nothing if they do not.
std::optional<Range> priorities_of(const Stay& stay) {
  if (!stay.in_priority || !stay.out_priority) return std::nullopt;
  return Range{std::min(*stay.in_priority, *stay.out_priority),
               std::max(*stay.in_priority, *stay.out_priority)};
}

}  // namespace

Inversions::Inversions()
    : stretches_{[this](const ReadyStretch& stretch) { ready(stretch); }},
      turns_{[this](const Turn& turn) { stretches_.turn(turn); }},
      chains_{[this](Index thread, i64 time, const OwnerChains::Wait& wait,
                     const OwnerChains::Chain& chain) { begin_chain(thread, time, wait, chain); },
              [this](Index thread, i64 time) { end_chain(thread, time); }} {}

void Inversions::begin(const Observed& observed) {
  observed_ = &observed;
  turns_.begin(observed);
}

void Inversions::on_switch(const ContextSwitch& record) {
  turns_.on_switch(record);
  stretches_.switched(record, observed_->population);
  waits_.switched(record);
  // Its wait ended before, unseen, or it only runs for a moment.
  chains_.end(record.new_thread, record.moment.time, false);
  if (is_waiting(record.old_state)) block(record);
}

void Inversions::on_ready(const Readied& record) {
  turns_.on_ready(record);
}

void Inversions::on_wait_begin(const WaitBegin& record) {
  names_objects_ = names_objects_ || !record.objects.empty();
  taken(waits_.begin(record, observed_->population));
  for (const auto& wait : waits_.find(record.thread)->waits)
    if (is_mutant(wait.object)) waiters_[wait.object].insert(record.thread);
}

void Inversions::on_wait_end(const WaitEnd& record) {
  taken(waits_.end(record));
}

void Inversions::on_thread(const ThreadRecord& record) {
  turns_.on_thread(record);
  taken(waits_.thread(record, observed_->population));
  if (record.life == Life::ends) owner_ended(record.thread);
  if (record.affinity) affinities_.set(record.thread, record.moment.time, record.affinity);
}

void Inversions::taken(std::span<const OpenWaits::Ended> waits) {
  for (const auto& wait : waits) {
    mutants_.ended(wait, waits_.objects().all()[wait.object].waited.kind);
    if (const auto waiters = waiters_.find(wait.object); waiters != waiters_.end()) {
      waiters->second.erase(wait.thread);
      if (waiters->second.empty()) waiters_.erase(waiters);
    }
    chains_.end(wait.thread, wait.end.time, wait.how != OpenWaits::How::not_seen);
    if (is_mutant(wait.object)) set_owner(wait);
  }
}

// Who else waits for it waits for its new owner; after a wait whose end was not seen nobody knows.
void Inversions::set_owner(const OpenWaits::Ended& wait) {
  const auto waiters = waiters_.find(wait.object);
  if (waiters == waiters_.end() || wait.how == OpenWaits::How::not_taken) return;
  const auto owner = wait.how == OpenWaits::How::taken ? wait.thread : nobody;
  chains_.change_owner(waiters->second, wait.end.time, owner, wait.end);
}

void Inversions::block(const ContextSwitch& record) {
  const auto high = record.old_thread;
  const auto* const waiting = waits_.find(high);
  if (waiting == nullptr || waiting->waits.size() != 1 || !record.old_priority ||
      chains_.waits(high))
    return;
  const auto& wait = waiting->waits.front();
  if (!is_mutant(wait.object)) return;
  const auto* const owner =
      mutants_.find(wait.object, observed_->population, observed_->losses, record.moment.time);
  if (owner == nullptr || owner->thread == high || !owner->perhaps.empty() ||
      may_have_it(high, wait.object))
    return;
  left_with_[high] = *record.old_priority;
  chains_.begin(high, record.moment.time,
                {owner->thread, wait.object, wait.since, owner->since,
                 std::make_shared<OwnerChains::Fate>()});
}

void Inversions::begin_chain(Index thread, i64 time, const OwnerChains::Wait& wait,
                             const OwnerChains::Chain& chain) {
  auto& waits = waits_of_owner_[chain.low];
  if (waits.size() == most_waits) {
    auto& oldest = waits.front();
    if (!oldest.to) blocked_.erase(oldest.inversion.high);
    keep(oldest, false);
    waits.pop_front();
  }
  Inversion inversion{};
  inversion.high = thread;
  inversion.low = chain.low;
  inversion.between = chain.between;
  inversion.object = wait.object;
  inversion.high_priority = left_with_[thread];
  inversion.waits_since = wait.since;
  inversion.owned_since = chain.owned_since;
  waits.push_back({std::move(inversion), time, std::nullopt, chain.known_since, chain.fates});
  blocked_[thread] = std::prev(waits.end());
}

void Inversions::end_chain(Index thread, i64 time) {
  const auto place = blocked_.find(thread);
  if (place == blocked_.end()) return;
  place->second->to = time;
  blocked_.erase(place);
}

// Another thread began to wait for it and was not seen to leave its processor for that, or came
// back since: it may have the object.
bool Inversions::may_have_it(Index waiter, ObjectIndex object) const {
  const auto& waiters = waiters_.at(object);
  return waiters.size() > most_waiters || std::ranges::any_of(waiters, [&](Index thread) {
           const auto* const waiting = waits_.find(thread);
           return thread != waiter && waiting != nullptr && !waiting->left_processor;
         });
}

// Who has ended is ready no more: that it was before, is told once all turns of that time are over.
void Inversions::owner_ended(Index owner) {
  if (waits_of_owner_.count(owner) == 0) return;
  ended_owners_.push_back(owner);
  if (ended_owners_.size() <= most_ended) return;
  forget(ended_owners_.front());
  ended_owners_.pop_front();
}

void Inversions::forget(Index owner) {
  const auto place = waits_of_owner_.find(owner);
  if (place == waits_of_owner_.end()) return;
  auto& waits = place->second;
  for (auto blocked = waits.begin(); blocked != waits.end();) {
    if (blocked->to) keep(*blocked, false);
    blocked = blocked->to ? waits.erase(blocked) : std::next(blocked);
  }
  if (waits.empty()) waits_of_owner_.erase(place);
}

bool Inversions::is_mutant(ObjectIndex object) const {
  return MutantOwners::can_own(waits_.objects().all()[object].waited.kind);
}

void Inversions::ready(const ReadyStretch& stretch) {
  if (const auto waits = waits_of_owner_.find(stretch.thread); waits != waits_of_owner_.end())
    for (auto& blocked : waits->second) add_inversion(blocked, stretch);
  add_lower(stretch);
}

void Inversions::add_inversion(Blocked& blocked, const ReadyStretch& stretch) {
  auto& inversion = blocked.inversion;
  const auto from = std::max(blocked.from, stretch.from);
  const auto to = std::min(blocked.to.value_or(stretch.to), stretch.to);
  if (from >= to || stretch.highest >= inversion.high_priority || !stretches_.processors() ||
      observed_->losses.anywhere(blocked.known_since, to))
    return;
  std::vector<Role> roles;
  for (const auto& stay : stretch.stays) {
    const auto range = priorities_of(stay);
    const bool below = !range || range->low < stretch.highest ||
                       observed_->population.threads()[stay.thread].idle_of;
    const bool between =
        !below && range->low > stretch.highest && range->high < inversion.high_priority;
    roles.push_back(below ? Role::forbidden : between ? Role::wanted : Role::other);
  }
  const auto overlap = find_overlap(stretch.stays, roles, from, to, *stretches_.processors());
  if (overlap.time == 0) return;
  if (inversion.stretches == 0 || overlap.from < inversion.from) {
    inversion.from = overlap.from;
    inversion.ready_at = stretch.since;
    inversion.low_priority = stretch.priority;
  }
  inversion.to = std::max(inversion.to, overlap.to);
  add_ticks(inversion.time, overlap.time);
  ++inversion.stretches;
  auto& middles = inversion.middles;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != Role::wanted || overlap.shares[i] == 0) continue;
    const auto& stay = stretch.stays[i];
    auto middle = std::ranges::find(middles, stay.thread, &Middle::thread);
    const Moment since{stay.begin, stay.cpu, stay.place};
    if (middle == middles.end()) {
      if (middles.size() == most_middles) continue;
      middle = middles.insert(middle, {stay.thread, *stay.in_priority, stay.cpu, since, 0});
    } else if (stay.begin < middle->since.time) {
      *middle = {stay.thread, *stay.in_priority, stay.cpu, since, middle->time};
    }
    add_ticks(middle->time, overlap.shares[i]);
  }
}

void Inversions::add_lower(const ReadyStretch& stretch) {
  const auto affinity = affinities_.find(stretch.thread, stretch.from, stretch.to);
  constexpr u16 processors_of_group = 64;
  const auto processors = stretches_.processors();
  if (!processors) return;
  const bool known = affinity && *processors <= processors_of_group;
  std::vector<Role> roles;
  for (const auto& stay : stretch.stays) {
    const auto range = priorities_of(stay);
    const bool idle = observed_->population.threads()[stay.thread].idle_of.has_value();
    const bool lower = range && !idle && range->high < stretch.lowest;
    if (known) {
      const bool may_use = stay.cpu < processors_of_group && (*affinity >> stay.cpu & 1U) != 0;
      roles.push_back(lower && may_use ? Role::wanted : Role::other);
    } else {
      // It may use one of them, whichever that is.
      roles.push_back(lower ? Role::wanted : Role::forbidden);
    }
  }
  const auto overlap =
      find_overlap(stretch.stays, roles, stretch.from, stretch.to, known ? 0 : *processors);
  if (overlap.time == 0 || observed_->losses.anywhere(stretch.from, stretch.to)) return;
  auto& sums = grown(lower_ran_, stretch.thread);
  ++sums.count;
  add_ticks(sums.time, overlap.time);
  if (overlap.time <= sums.longest) return;
  std::size_t most = 0;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i] == Role::wanted &&
        (roles[most] != Role::wanted || overlap.shares[i] > overlap.shares[most]))
      most = i;
  const auto& other = stretch.stays[most];
  sums.longest = overlap.time;
  sums.longest_from = stretch.from;
  sums.longest_since = stretch.since;
  sums.priority = stretch.lowest;
  sums.other = other.thread;
  sums.other_priority = other.in_priority;
  sums.cpu = other.cpu;
}

// A wait that goes on may still end unseen.
void Inversions::keep(Blocked& blocked, bool at_end) {
  const auto not_seen = [](const auto& fate) { return !fate->seen; };
  if (blocked.inversion.time == 0 || std::ranges::any_of(blocked.fates, not_seen)) return;
  const auto ended = [](const auto& fate) { return fate->until.has_value(); };
  if (inversions_.size() == most_inversions ||
      (!at_end && !std::ranges::all_of(blocked.fates, ended))) {
    ++left_out_;
    return;
  }
  blocked.inversion.waits_until = blocked.fates.front()->until;
  std::ranges::stable_sort(blocked.inversion.middles, std::greater{}, &Middle::time);
  inversions_.push_back(std::move(blocked.inversion));
}

void Inversions::finish(const Observed& observed) {
  turns_.finish(observed);
  stretches_.finish(turns_, observed);
  for (auto& [owner, waits] : waits_of_owner_)
    for (auto& blocked : waits) keep(blocked, true);
  std::ranges::sort(inversions_, {}, [](const Inversion& one) {
    return std::tuple{one.from, one.high, one.low};
  });
}

}  // namespace coldtrace::trace_analysis
