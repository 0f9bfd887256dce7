#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tracefile/synthesis/processor.hpp"

namespace coldtrace::tracefile::synthesis {

// A thread waits for one mutant, whose owner can run and does not, or waits for one mutant itself
// whose owner can and does not, and so on; no processor is idle or has a thread with less than that
// owner's priority, and one at least has one with a priority between.
struct PriorityInversion {
  const Thread* high;
  const Thread* low;                   // the owner that could run
  std::vector<const Thread*> between;  // owners that wait, from the one that `high` waits for on
  u64 object;                          // address of what `high` waits for
  u64 begun;                           // the wait
  u64 from, to;
  u64 time = 0;                          // of that stretch in which it was so
  std::map<const Thread*, u64> middles;  // who ran with a priority between, and how long
};

// Looks for priority inversions whenever something may have changed.
class InversionWatch {
 public:
  // Both must outlive the watch.
  explicit InversionWatch(const std::vector<Processor>& processors) : processors_{processors} {}
  void add(const DispatcherObject& mutant) { mutants_.push_back(&mutant); }

  // Since it was looked last, all was as it was then.
  void look(u64 now);

  const std::vector<PriorityInversion>& found() const { return found_; }

 private:
  // Threads of the inversion that is there now; none if there is none.
  std::vector<const Thread*> find_middles(const Thread& high, const Thread& low) const;
  struct Chain {
    std::vector<const Thread*> between;
    const Thread* low;
  };
  static std::optional<Chain> follow(const Thread& high, const DispatcherObject& mutant);
  PriorityInversion& inversion(const Thread& high, Chain chain, u64 object, u64 now);

  struct Now {
    std::size_t inversion;
    std::vector<const Thread*> middles;
  };

  const std::vector<Processor>& processors_;
  std::vector<const DispatcherObject*> mutants_;
  std::vector<PriorityInversion> found_;
  std::vector<Now> now_;
  u64 last_ = 0;
};

}  // namespace coldtrace::tracefile::synthesis
