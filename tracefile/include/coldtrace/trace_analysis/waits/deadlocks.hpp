#pragma once

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/waits/lock_order.hpp"
#include "coldtrace/trace_analysis/waits/wait_knots.hpp"
#include "coldtrace/trace_analysis/waits/wakes.hpp"

namespace coldtrace::trace_analysis {

// Deadlocks from the moment in which they close to their end, and orders of mutants that could lead
// to one. Memory grows with waiting threads, objects and distinct orders, up to stated limits.
class Deadlocks final : public Analysis {
 public:
  struct Member {
    WaitKnots::Member place;
    Moment since;                 // when its wait began
    bool left_processor = false;  // and a switch has taken it off its processor for that
  };
  struct Victim {
    WaitKnots::Victim place;
    Moment since;
  };
  // The first wait in it that ended, or a thread of it that did.
  struct End {
    Moment moment;
    Index thread;
    std::optional<u32> status;  // of the wait; nothing: its end was not seen, only what came after
    Index by;                   // who ran when that was logged
  };
  struct Deadlock {
    bool cycle;  // else a knot
    Moment closed;
    std::vector<Member> members;
    std::vector<Victim> victims;  // that wait behind it, when it ended or the trace did
    std::optional<End> end;       // nothing: it lasts to the end of the trace
    bool events_missing = false;  // since it closed: it may have ended earlier
    // Every thread of it was seen to leave its processor. Otherwise, the last wait may have been
    // for an object that was free.
    [[nodiscard]] bool proved() const;
  };
  // Of a trace that names no objects: a thread that waits until its end.
  struct Suspect {
    Index thread;
    Moment since;
    std::optional<u8> reason;
  };
  static constexpr std::size_t most_deadlocks = 1024;

  void begin(const Observed& observed) override { observed_ = &observed; }
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_wait_begin(const WaitBegin& record) override;
  void on_wait_end(const WaitEnd& record) override;
  void on_thread(const ThreadRecord& record) override;
  void finish(const Observed& observed) override;

  [[nodiscard]] const WaitObjects& objects() const { return waits_.objects(); }
  [[nodiscard]] const std::vector<Deadlock>& deadlocks() const { return deadlocks_; }
  [[nodiscard]] const std::vector<LockOrder::Inversion>& inversions() const { return inversions_; }
  // Whether its mutants are those of a deadlock.
  [[nodiscard]] bool is_deadlocked(const LockOrder::Inversion& inversion) const;

  [[nodiscard]] bool names_objects() const { return names_objects_; }
  // In the order in which their waits began; none if the trace names objects.
  [[nodiscard]] const std::vector<Suspect>& suspects() const { return suspects_; }
  [[nodiscard]] bool any_switch() const { return wakes_.any_switch(); }
  [[nodiscard]] bool any_ready() const { return wakes_.any_ready(); }

  // Cycles that were gone before all their threads were seen to wait.
  [[nodiscard]] u64 passing() const { return passing_; }
  [[nodiscard]] bool reached_limit() const;

 private:
  struct Live {
    Deadlock deadlock;
    std::optional<End> ran;  // a thread of it ran, and has not returned to its wait
  };

  void search(Index thread, const Moment& moment);
  void taken(std::span<const OpenWaits::Ended> waits);
  void break_all(const End& end);
  void drop_all(Index thread);
  void keep(Live live, i64 now);
  std::vector<u64> live_of(Index thread) const;
  void forget(u64 number);

  const Observed* observed_ = nullptr;
  OpenWaits waits_;
  MutantOwners mutants_;
  LockOrder order_;
  Wakes wakes_;
  std::optional<WaitKnots> knots_;
  std::map<u64, Live> live_;  // in the order in which they closed
  std::unordered_map<Index, std::vector<u64>> live_of_thread_;
  u64 next_ = 0;
  std::vector<Deadlock> deadlocks_;
  std::vector<LockOrder::Inversion> inversions_;
  std::vector<Suspect> suspects_;
  bool names_objects_ = false;
  u64 passing_ = 0, left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
