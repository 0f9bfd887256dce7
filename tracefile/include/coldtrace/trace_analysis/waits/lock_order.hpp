#pragma once

#include <map>
#include <set>

#include "coldtrace/trace_analysis/waits/open_waits.hpp"

namespace coldtrace::trace_analysis {

// Which mutants were taken while others may have been held: if two threads do that in opposite
// orders, they can end in a deadlock, even if they did not in this trace. Nothing logs a release: a
// thread holds a mutant until another one takes it, at most.
// Source: K. Havelund, "Using Runtime Analysis to Guide Model Checking of Java Programs" (2000),
// the algorithm Goodlock.
class LockOrder {
 public:
  // A thread took one mutant when it may have held another.
  struct Witness {
    Index thread;
    ObjectIndex held, taken;
    Moment held_since, taken_at;
    std::vector<ObjectIndex> gates;  // others that it may have held, by number
  };
  // Mutants in a circle, each taken while the one before may have been held, by different threads
  // that had no other mutant in common.
  struct Inversion {
    std::vector<Witness> witnesses;
  };
  static constexpr std::size_t most_orders = std::size_t{1} << 16;
  static constexpr std::size_t most_held = 32;  // by one thread: those taken last
  static constexpr std::size_t most_inversions = 256;
  static constexpr std::size_t longest_circle = 16;
  static constexpr u64 most_steps = 1 << 20;  // of the search

  // A thread took an object; called in order of time.
  void taken(Index thread, ObjectIndex object, const Moment& moment);
  // It ended, and no longer holds anything.
  void thread_gone(Index thread);

  // To be called once, after all.
  std::vector<Inversion> find_inversions();

  // Whether orders or circles may be missing from the answer.
  [[nodiscard]] bool reached_limit() const { return reached_limit_; }

 private:
  struct Held {
    ObjectIndex object;
    Moment since;
  };
  using Order = std::tuple<ObjectIndex, ObjectIndex, Index>;

  void note(Index thread, const Held& held, ObjectIndex taken, const Moment& moment,
            const std::vector<Held>& all);
  void extend(std::vector<const Witness*>& path, std::vector<Inversion>& inversions);
  bool fits(const std::vector<const Witness*>& path, const Witness& next) const;

  std::unordered_map<Index, std::vector<Held>> held_;
  std::unordered_map<ObjectIndex, Index> holders_;
  std::map<Order, u32> numbers_;  // of witnesses
  std::vector<Witness> witnesses_;
  std::unordered_map<ObjectIndex, std::vector<u32>> by_held_;
  std::set<std::vector<ObjectIndex>> circles_;  // that are found
  u64 steps_ = 0;
  bool reached_limit_ = false;
};

}  // namespace coldtrace::trace_analysis
