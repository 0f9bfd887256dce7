#pragma once

#include <list>
#include <unordered_set>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/scheduling/ready_stretches.hpp"
#include "coldtrace/trace_analysis/waits/affinities.hpp"
#include "coldtrace/trace_analysis/waits/owner_chains.hpp"

namespace coldtrace::trace_analysis {

// Priority inversions: a thread waits for a mutant whose owner could run but did not, because
// threads with a priority between the two had a processor, and no processor was idle or ran a
// thread with less than the owner's priority. In addition, for every thread: how long it was ready
// while a processor that it may use ran a thread of lower priority.
//
// Priorities are those that the switches show; the owner's is the one that it was pushed off with.
// Turns whose begin or end was not seen, and what lies across missing events, do not count: times
// are lower bounds. Memory grows with threads and inversions, up to stated limits for the latter.
// Source: docs/commands/trace-priority.md.
class Inversions final : public Analysis {
 public:
  // A thread that ran instead of the owner.
  struct Middle {
    Index thread;
    i8 priority;
    u16 cpu;       // of its first turn
    Moment since;  // the switch to it
    i64 time = 0;
  };
  struct Inversion {
    Index high;  // who waits
    // Who owns the object; if that thread waits itself, who owns what it waits for, and so on.
    Index low;
    std::vector<OwnerChains::Between> between;  // the owners that wait
    ObjectIndex object;
    i8 high_priority, low_priority;
    Moment waits_since;  // when its wait began
    std::optional<i64> waits_until;
    Moment owned_since;           // since when `low` owns its object
    i64 from, to;                 // its first and its last moment
    Place ready_at;               // the event that made the owner ready at that time
    i64 time = 0;                 // ticks in between in which the inversion holds
    u64 stretches = 0;            // of the owner being ready
    std::vector<Middle> middles;  // the one that ran longest comes first
  };
  // For one thread.
  struct LowerRan {
    u64 count = 0;  // stretches
    i64 time = 0;
    i64 longest = 0;
    i64 longest_from = 0;
    Place longest_since;   // the event with which that stretch begins
    i8 priority = 0;       // of the thread then
    Index other = nobody;  // who ran longest in it, of those of lower priority
    std::optional<i8> other_priority;
    u16 cpu = 0;
  };
  static constexpr std::size_t most_inversions = 1024;
  static constexpr std::size_t most_waits = 64;    // for a thread, the latest ones
  static constexpr std::size_t most_ended = 1024;  // owners that are remembered beyond their end
  static constexpr std::size_t most_middles = 64;
  static constexpr std::size_t most_waiters = 1024;  // for a mutant; beyond that, anyone may own it

  Inversions();
  Inversions(const Inversions&) = delete;
  Inversions& operator=(const Inversions&) = delete;

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_wait_begin(const WaitBegin& record) override;
  void on_wait_end(const WaitEnd& record) override;
  void on_thread(const ThreadRecord& record) override;
  void on_affinity_change(const AffinityChange& record) override {
    affinities_.set(record.thread, record.moment.time, record.processors);
  }
  void finish(const Observed& observed) override;

  // In the order of time.
  [[nodiscard]] const std::vector<Inversion>& inversions() const { return inversions_; }
  [[nodiscard]] const std::vector<LowerRan>& lower_ran() const { return lower_ran_; }  // by thread
  [[nodiscard]] const WaitObjects& objects() const { return waits_.objects(); }
  [[nodiscard]] bool names_objects() const { return names_objects_; }
  // Inversions, or waits that may be in some.
  [[nodiscard]] u64 left_out() const {
    return left_out_ + chains_.left_out() + waits_.objects().left_out();
  }
  [[nodiscard]] u64 stretches_cut() const { return stretches_.left_out(); }

 private:
  // A thread waits for another one, through a chain of owners that stays the same.
  struct Blocked {
    Inversion inversion;
    i64 from;
    std::optional<i64> to;
    i64 known_since;
    std::vector<std::shared_ptr<const OwnerChains::Fate>> fates;
  };
  using Waits = std::list<Blocked>;

  void block(const ContextSwitch& record);
  void begin_chain(Index thread, i64 time, const OwnerChains::Wait& wait,
                   const OwnerChains::Chain& chain);
  void end_chain(Index thread, i64 time);
  void set_owner(const OpenWaits::Ended& wait);
  void taken(std::span<const OpenWaits::Ended> waits);
  bool may_have_it(Index waiter, ObjectIndex object) const;
  void owner_ended(Index owner);
  void forget(Index owner);
  bool is_mutant(ObjectIndex object) const;
  void ready(const ReadyStretch& stretch);
  void add_inversion(Blocked& blocked, const ReadyStretch& stretch);
  void add_lower(const ReadyStretch& stretch);
  void keep(Blocked& blocked, bool at_end);

  const Observed* observed_ = nullptr;
  OpenWaits waits_;
  MutantOwners mutants_;
  ReadyStretches stretches_;
  Turns turns_;
  std::unordered_map<ObjectIndex, std::unordered_set<Index>> waiters_;  // for each mutant
  std::unordered_map<Index, Waits> waits_of_owner_;
  std::deque<Index> ended_owners_;
  std::unordered_map<Index, Waits::iterator> blocked_;  // who waits now
  std::unordered_map<Index, i8> left_with_;             // the priority of the one that waits
  OwnerChains chains_;
  Affinities affinities_;
  std::vector<LowerRan> lower_ran_;
  std::vector<Inversion> inversions_;
  bool names_objects_ = false;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
