#pragma once

#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "coldtrace/trace_analysis/waits/open_waits.hpp"

namespace coldtrace::trace_analysis {

// Threads that wait for a mutant of another thread, which may wait for one of a third, and so on:
// whom each of them waits for in the end. Reported again whenever that changes. Chains of more than
// `most_between` owners and circular ones are not reported. At most `most_together` threads wait
// for the same one in the end, so that a change costs no more than that.
class OwnerChains {
 public:
  // How the wait of a thread ended, once it has.
  struct Fate {
    std::optional<i64> until;
    bool seen = true;
  };
  // An owner that is itself waiting.
  struct Between {
    Index thread;
    Moment owned_since;  // the object that the one before it waits for
    ObjectIndex object;  // the object that it waits for
    Moment waits_since;
  };
  struct Chain {
    std::vector<Between> between;  // from the one that waits first
    Index low;                     // whom they wait for: it waits for no mutant
    Moment owned_since;
    i64 known_since;                                 // the first event that the chain rests on
    std::vector<std::shared_ptr<const Fate>> fates;  // of the wait itself, then of `between`
  };
  struct Wait {
    Index owner;  // nobody: not known any more
    ObjectIndex object;
    Moment since;
    Moment owned_since;
    std::shared_ptr<Fate> fate;
  };
  using Begins = std::function<void(Index thread, i64 time, const Wait& wait, const Chain& chain)>;
  using Ends = std::function<void(Index thread, i64 time)>;
  static constexpr std::size_t most_between = 8;
  static constexpr std::size_t most_together = 64;

  OwnerChains(Begins begins, Ends ends) : begins_{std::move(begins)}, ends_{std::move(ends)} {}

  [[nodiscard]] bool waits(Index thread) const { return waits_.count(thread) != 0; }
  // A thread began to wait at this tick.
  void begin(Index thread, i64 time, const Wait& wait);
  // It no longer waits; `seen`: an event says so.
  void end(Index thread, i64 time, bool seen);
  // What those of the threads that wait are waiting for has another owner; nobody: not known.
  void change_owner(const std::unordered_set<Index>& threads, i64 time, Index owner,
                    const Moment& owned_since);
  [[nodiscard]] u64 left_out() const {
    return left_out_;
  }  // waits, or owners that are not known for that reason

 private:
  std::vector<Index> with_those_behind(std::vector<Index> threads) const;
  std::size_t together(Index thread) const;
  void leave(Index thread, Index owner);
  void tell(Index thread, i64 time);

  Begins begins_;
  Ends ends_;
  std::unordered_map<Index, Wait> waits_;              // by who waits
  std::unordered_map<Index, std::set<Index>> behind_;  // by owner
  u64 left_out_ = 0;
};

}  // namespace coldtrace::trace_analysis
