#pragma once

#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/waits/open_waits.hpp"

namespace coldtrace::trace_analysis {

// Threads none of which can go on unless another of them does. A thread that waits for one object
// of one owner has one way out: the knot is then a cycle. For a wait for any of several objects,
// all ways must lead back (a knot); for a wait for all of them, one is enough.
class WaitKnots {
 public:
  // Who waits for what of whom.
  struct Step {
    ObjectIndex object;
    Index owner;
    Moment owned_since;  // of a mutant
  };
  struct Member {
    Index thread;
    std::vector<Step> steps;  // those that lead to other members
  };
  struct Knot {
    bool cycle;
    std::vector<Member> members;  // of a cycle in its order
  };
  struct Victim {
    Index thread;
    ObjectIndex object;
    Index behind;  // a member, or a victim
  };
  // Most threads examined in one search.
  static constexpr std::size_t most_threads = 1024;

  // All must outlive it.
  WaitKnots(core::Borrowed<OpenWaits> waits, core::Borrowed<MutantOwners> mutants,
            core::Borrowed<Population> population, core::Borrowed<Losses> losses)
      : waits_{waits.get()},
        mutants_{mutants.get()},
        population_{population.get()},
        losses_{losses.get()} {}

  // The knot that holds the thread, or nothing.
  std::optional<Knot> find(Index thread, i64 now);
  // Who waits for members, directly or behind others, in the order in which they are found.
  [[nodiscard]] std::vector<Victim> find_victims(const std::vector<Member>& members, i64 now) const;

  [[nodiscard]] u64 gave_up() const { return gave_up_; }  // searches that met more threads

 private:
  class Search;

  // Who can end the wait; empty if nobody is known.
  std::vector<Step> owners(Index waiter, const OpenWaits::Wait& wait, i64 now) const;
  // A thread that waits, as far as is known.
  const OpenWaits::Waiting* find_waiting(Index thread, i64 now) const;

  const OpenWaits& waits_;
  const MutantOwners& mutants_;
  const Population& population_;
  const Losses& losses_;
  u64 gave_up_ = 0;
};

}  // namespace coldtrace::trace_analysis
