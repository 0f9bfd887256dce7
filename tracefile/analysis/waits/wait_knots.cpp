#include "coldtrace/trace_analysis/waits/wait_knots.hpp"

#include <algorithm>

namespace coldtrace::trace_analysis {

// The threads that a thread waits for, and those that they wait for, and so on.
class WaitKnots::Search {
 public:
  // False when there are too many.
  bool reach(const WaitKnots& rules, Index thread, i64 now) {
    add(thread);
    for (u32 at = 0; at < nodes_.size(); ++at) {
      if (nodes_.size() > most_threads) return false;
      const auto* const waiting = rules.find_waiting(nodes_[at].thread, now);
      if (waiting == nullptr) continue;
      nodes_[at].stuck = true;
      nodes_[at].needs_all = waiting->needs == WaitNeeds::all;
      for (const auto& wait : waiting->waits) {
        Way way{rules.owners(nodes_[at].thread, wait, now), {}};
        for (const auto& step : way.steps) way.to.push_back(add(step.owner));
        nodes_[at].ways.push_back(std::move(way));
      }
    }
    return true;
  }

  // Whether the first thread is in a knot, whose nodes are then the only ones that are stuck.
  bool shrink_to_knot() {
    for (std::size_t before = nodes_.size() + 1;;) {
      settle();
      if (!nodes_[0].stuck) return false;
      keep_what_returns();
      const auto left = static_cast<std::size_t>(
          std::count_if(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.stuck; }));
      if (left < 2) return false;
      if (left == before) return true;
      before = left;
    }
  }

  Knot knot() const {
    Knot knot{true, {}};
    std::vector<bool> listed(nodes_.size());
    std::vector<u32> open{0};
    listed[0] = true;
    for (std::size_t next = 0; next < open.size(); ++next) {
      const auto& node = nodes_[open[next]];
      Member member{node.thread, {}};
      for (const auto& way : node.ways) {
        if (!holds(way)) continue;
        for (std::size_t i = 0; i < way.to.size(); ++i) {
          member.steps.push_back(way.steps[i]);
          if (listed[way.to[i]]) continue;
          listed[way.to[i]] = true;
          open.push_back(way.to[i]);
        }
      }
      knot.cycle = knot.cycle && member.steps.size() == 1;
      knot.members.push_back(std::move(member));
    }
    return knot;
  }

 private:
  // By one object, to those of whom each may be its owner.
  struct Way {
    std::vector<Step> steps;
    std::vector<u32> to;  // nodes
  };
  struct Node {
    Index thread;
    bool stuck = false;
    bool needs_all = false;
    std::vector<Way> ways;
  };

  u32 add(Index thread) {
    const auto [place, is_new] = numbers_.emplace(thread, static_cast<u32>(nodes_.size()));
    if (is_new) nodes_.push_back({thread, false, false, {}});
    return place->second;
  }

  bool holds(const Way& way) const {
    return !way.to.empty() &&
           std::all_of(way.to.begin(), way.to.end(), [&](u32 to) { return nodes_[to].stuck; });
  }

  bool is_held(const Node& node) const {
    const auto holds_one = [&](const Way& way) { return holds(way); };
    if (node.ways.empty()) return false;
    return node.needs_all ? std::any_of(node.ways.begin(), node.ways.end(), holds_one)
                          : std::all_of(node.ways.begin(), node.ways.end(), holds_one);
  }

  // Whoever can go on may let those go on that wait for it.
  void settle() {
    std::vector<std::vector<u32>> waiters(nodes_.size());
    std::vector<u32> open;
    for (u32 at = 0; at < nodes_.size(); ++at) {
      for (const auto& way : nodes_[at].ways)
        for (const auto to : way.to) waiters[to].push_back(at);
      open.push_back(at);
    }
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      if (!nodes_[at].stuck || is_held(nodes_[at])) continue;
      nodes_[at].stuck = false;
      open.insert(open.end(), waiters[at].begin(), waiters[at].end());
    }
  }

  // Those that the first one waits for and that wait for the first one, through others or not.
  void keep_what_returns() {
    std::vector<bool> reached(nodes_.size()), returns(nodes_.size());
    std::vector<std::vector<u32>> waiters(nodes_.size());
    std::vector<u32> open{0};
    reached[0] = returns[0] = true;
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      for (const auto& way : nodes_[at].ways) {
        if (!holds(way)) continue;
        for (const auto to : way.to) {
          waiters[to].push_back(at);
          if (reached[to]) continue;
          reached[to] = true;
          open.push_back(to);
        }
      }
    }
    open.push_back(0);
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      for (const auto waiter : waiters[at]) {
        if (returns[waiter]) continue;
        returns[waiter] = true;
        open.push_back(waiter);
      }
    }
    for (u32 at = 0; at < nodes_.size(); ++at) nodes_[at].stuck = nodes_[at].stuck && returns[at];
  }

  std::vector<Node> nodes_;
  std::unordered_map<Index, u32> numbers_;
};

// An object that the waiter itself had last is no way: it takes it again, or has released it.
std::vector<WaitKnots::Step> WaitKnots::owners(Index waiter, const OpenWaits::Wait& wait,
                                               i64 now) const {
  const auto& object = waits_.objects().all()[wait.object];
  const auto& threads = population_.threads();
  std::vector<Step> steps;
  if (object.thread != nobody) {
    if (object.thread != waiter && !threads[object.thread].life.end)
      steps.push_back({wait.object, object.thread, {}});
    return steps;
  }
  const auto* const owner = mutants_.find(wait.object, population_, losses_, now);
  if (owner == nullptr || owner->thread == waiter) return steps;
  steps.push_back({wait.object, owner->thread, owner->since});
  for (const auto thread : owner->perhaps)
    if (thread != waiter && !threads[thread].life.end)
      steps.push_back({wait.object, thread, owner->since});
  return steps;
}

const OpenWaits::Waiting* WaitKnots::find_waiting(Index thread, i64 now) const {
  const auto* const waiting = waits_.find(thread);
  if (waiting == nullptr || waiting->waits.empty() || waiting->came_back || waiting->partly ||
      losses_.anywhere(waiting->since.time, now))
    return nullptr;
  return waiting;
}

std::optional<WaitKnots::Knot> WaitKnots::find(Index thread, i64 now) {
  Search search;
  if (!search.reach(*this, thread, now)) {
    ++gave_up_;
    return std::nullopt;
  }
  if (!search.shrink_to_knot()) return std::nullopt;
  return search.knot();
}

std::vector<WaitKnots::Victim> WaitKnots::find_victims(const std::vector<Member>& members,
                                                       i64 now) const {
  std::unordered_map<Index, std::vector<Index>> waiters;
  for (Index thread = 0; thread < waits_.threads(); ++thread)
    if (const auto* const waiting = find_waiting(thread, now))
      for (const auto& wait : waiting->waits)
        for (const auto& step : owners(thread, wait, now)) waiters[step.owner].push_back(thread);
  std::unordered_map<Index, bool> stuck;
  std::vector<Index> open;
  for (const auto& member : members) {
    stuck[member.thread] = true;
    open.push_back(member.thread);
  }
  const auto is_behind = [&](Index thread, const OpenWaits::Wait& wait) -> std::optional<Victim> {
    const auto steps = owners(thread, wait, now);
    const bool held = !steps.empty() &&
                      std::all_of(steps.begin(), steps.end(),
                                  [&](const Step& step) { return stuck.count(step.owner) != 0; });
    if (!held) return std::nullopt;
    return Victim{thread, wait.object, steps.front().owner};
  };
  std::vector<Victim> victims;
  for (std::size_t next = 0; next < open.size(); ++next) {
    auto& behind = waiters[open[next]];
    std::sort(behind.begin(), behind.end());
    for (const auto thread : behind) {
      if (stuck.count(thread) != 0) continue;
      const auto* const waiting = waits_.find(thread);
      std::optional<Victim> victim;
      std::size_t held = 0;
      for (const auto& wait : waiting->waits)
        if (const auto one = is_behind(thread, wait)) {
          ++held;
          if (!victim) victim = one;
        }
      if (held == 0 || (waiting->needs != WaitNeeds::all && held < waiting->waits.size())) continue;
      stuck[thread] = true;
      victims.push_back(*victim);
      open.push_back(thread);
    }
  }
  return victims;
}

}  // namespace coldtrace::trace_analysis
