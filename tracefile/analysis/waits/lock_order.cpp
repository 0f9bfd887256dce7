#include "coldtrace/trace_analysis/waits/lock_order.hpp"

#include <algorithm>

namespace coldtrace::trace_analysis {

void LockOrder::taken(Index thread, ObjectIndex object, const Moment& moment) {
  const auto holder = holders_.find(object);
  const auto drop = [&](std::vector<Held>& all) {
    const auto place =
        std::find_if(all.begin(), all.end(), [&](const Held& one) { return one.object == object; });
    if (place == all.end()) return false;
    all.erase(place);
    return true;
  };
  if (holder != holders_.end() && holder->second != thread) {
    const auto other = held_.find(holder->second);
    if (other != held_.end()) {
      drop(other->second);
      if (other->second.empty()) held_.erase(other);
    }
  }
  holders_[object] = thread;
  auto& held = held_[thread];
  // Mutants are recursive: to take one again waits for nobody, and puts it in no order.
  if (!drop(held))
    for (const auto& one : held) note(thread, one, object, moment, held);
  held.push_back({object, moment});
  if (held.size() > most_held) held.erase(held.begin());
}

// The first witness stands, unless a later one had fewer others in hand.
void LockOrder::note(Index thread, const Held& held, ObjectIndex taken, const Moment& moment,
                     const std::vector<Held>& all) {
  Witness witness{thread, held.object, taken, held.since, moment, {}};
  for (const auto& one : all)
    if (one.object != held.object) witness.gates.push_back(one.object);
  std::sort(witness.gates.begin(), witness.gates.end());
  const auto known = numbers_.find({held.object, taken, thread});
  if (known != numbers_.end()) {
    auto& before = witnesses_[known->second];
    if (witness.gates.size() < before.gates.size()) before = std::move(witness);
    return;
  }
  if (witnesses_.size() >= most_orders) {
    reached_limit_ = true;
    return;
  }
  const auto number = static_cast<u32>(witnesses_.size());
  numbers_.emplace(Order{held.object, taken, thread}, number);
  by_held_[held.object].push_back(number);
  witnesses_.push_back(std::move(witness));
}

void LockOrder::thread_gone(Index thread) {
  const auto held = held_.find(thread);
  if (held == held_.end()) return;
  for (const auto& one : held->second) holders_.erase(one.object);
  held_.erase(held);
}

bool LockOrder::fits(const std::vector<const Witness*>& path, const Witness& next) const {
  const auto share = [](const std::vector<ObjectIndex>& a, const std::vector<ObjectIndex>& b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  };
  return std::none_of(path.begin(), path.end(), [&](const Witness* one) {
    return one->thread == next.thread || share(one->gates, next.gates);
  });
}

// A circle is found from its mutant with the least number.
void LockOrder::extend(std::vector<const Witness*>& path, std::vector<Inversion>& inversions) {
  const auto first = path.front()->held;
  const auto following = by_held_.find(path.back()->taken);
  if (following == by_held_.end()) return;
  for (const auto number : following->second) {
    if (++steps_ > most_steps || inversions.size() >= most_inversions) {
      reached_limit_ = true;
      return;
    }
    const auto& next = witnesses_[number];
    const bool closes = next.taken == first;
    const bool comes_again = std::any_of(
        path.begin(), path.end(), [&](const Witness* one) { return one->held == next.taken; });
    if ((!closes && (next.taken < first || comes_again)) || !fits(path, next)) continue;
    path.push_back(&next);
    if (closes) {
      std::vector<ObjectIndex> circle;
      for (const auto* one : path) circle.push_back(one->held);
      if (circles_.insert(circle).second) {
        Inversion inversion;
        for (const auto* one : path) inversion.witnesses.push_back(*one);
        inversions.push_back(std::move(inversion));
      }
    } else if (path.size() < longest_circle) {
      extend(path, inversions);
    }
    path.pop_back();
  }
}

std::vector<LockOrder::Inversion> LockOrder::find_inversions() {
  std::vector<Inversion> inversions;
  for (const auto& witness : witnesses_) {
    if (witness.taken < witness.held) continue;
    std::vector<const Witness*> path{&witness};
    extend(path, inversions);
  }
  return inversions;
}

}  // namespace coldtrace::trace_analysis
