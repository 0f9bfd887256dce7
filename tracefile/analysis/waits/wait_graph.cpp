#include "coldtrace/trace_analysis/waits/wait_graph.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::trace_analysis {

void WaitGraph::on_switch(const ContextSwitch& record) {
  waits_.switched(record);
  wakes_.switched(record);
}

void WaitGraph::on_ready(const Readied& record) {
  wakes_.readied(record, observed_->losses);
}

void WaitGraph::on_wait_begin(const WaitBegin& record) {
  names_objects_ = names_objects_ || !record.objects.empty();
  ended(waits_.begin(record, observed_->population));
  for (const auto& wait : waits_.find(record.thread)->waits) {
    if (wait.since.place != record.moment.place) continue;  // of an event before
    auto* const one = edge(record.thread, wait.object);
    if (one == nullptr) continue;
    ++one->count;
    one->reason = record.reason;
  }
}

void WaitGraph::on_wait_end(const WaitEnd& record) {
  ended(waits_.end(record));
}

void WaitGraph::on_thread(const ThreadRecord& record) {
  ended(waits_.thread(record, observed_->population));
  if (record.life == Life::ends) wakes_.ended(record.thread);
}

WaitGraph::Edge* WaitGraph::edge(Index thread, ObjectIndex object) {
  const u64 key = u64{thread} << 32U | object;
  if (const auto number = numbers_.find(key); number != numbers_.end())
    return &edges_[number->second];
  if (edges_.size() >= most_edges) {
    ++left_out_;
    return nullptr;
  }
  numbers_.emplace(key, static_cast<u32>(edges_.size()));
  return &edges_.emplace_back(Edge{thread, object});
}

void WaitGraph::ended(std::span<const OpenWaits::Ended> waits) {
  for (const auto& wait : waits) {
    mutants_.ended(wait, waits_.objects().all()[wait.object].waited.kind);
    if (!wait.begin_seen) {
      ++ends_without_begin_;
      continue;
    }
    const auto number = numbers_.find(u64{wait.thread} << 32U | wait.object);
    if (number == numbers_.end()) continue;
    auto& edge = edges_[number->second];
    if (wait.how == OpenWaits::How::not_seen ||
        observed_->losses.anywhere(wait.since.time, wait.end.time)) {
      ++edge.unknown;
      continue;
    }
    const auto length = ticks_between(wait.since.time, wait.end.time);
    add_ticks(edge.total, length);
    if (edge.measured++ > 0 && length <= edge.longest) continue;
    edge.longest = length;
    edge.longest_since = wait.since;
  }
}

void WaitGraph::finish(const Observed&) {
  for (Index thread = 0; thread < waits_.threads(); ++thread) {
    const auto* const waiting = waits_.find(thread);
    if (waiting == nullptr) continue;
    for (const auto& wait : waiting->waits) {
      const auto number = numbers_.find(u64{thread} << 32U | wait.object);
      if (number == numbers_.end()) continue;
      auto& edge = edges_[number->second];
      ++edge.open;
      if (!edge.open_since || wait.since.time < edge.open_since->time) edge.open_since = wait.since;
    }
  }
  find_owners();
}

// A mutant that somebody waits for in vain has its owner still: a release would have ended that
// wait.
void WaitGraph::find_owners() {
  const auto now = observed_->last.value_or(0);
  const auto owner_of = [&](ObjectIndex object) -> const MutantOwners::Owner* {
    const auto* const owner = mutants_.find(object, observed_->population, observed_->losses, now);
    return owner != nullptr && owner->perhaps.empty() ? owner : nullptr;
  };
  std::vector<bool> wanted(waits_.objects().all().size());
  for (Index thread = 0; thread < waits_.threads(); ++thread) {
    const auto* const waiting = waits_.find(thread);
    if (waiting == nullptr || !waiting->left_processor) continue;
    for (const auto& wait : waiting->waits)
      if (const auto* const owner = owner_of(wait.object); owner != nullptr)
        wanted[wait.object] = wanted[wait.object] || owner->thread != thread;
  }
  for (ObjectIndex object = 0; object < wanted.size(); ++object)
    if (const auto* const owner = owner_of(object); owner != nullptr)
      owners_.push_back({object, owner->thread, owner->since,
                         wanted[object] ? Strength::proved : Strength::upper_bound});
}

}  // namespace coldtrace::trace_analysis
