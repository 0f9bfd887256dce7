#include "cli/trace/analysis/waits/deadlock_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/text.hpp"
#include "cli/trace/status.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Deadlocks;
using trace_analysis::Index;
using trace_analysis::LockOrder;
using trace_analysis::nobody;
using trace_analysis::ObjectIndex;

constexpr std::size_t suspects_in_text = 50;

class DeadlockText {
 public:
  DeadlockText(Output& output, const Deadlocks& answer, const WaitNames& names,
               const trace_analysis::Observed& observed)
      : output_{output}, answer_{answer}, names_{names}, observed_{observed} {}

  void write() {
    if (!answer_.names_objects()) return write_suspects();
    const auto& deadlocks = answer_.deadlocks();
    if (deadlocks.empty()) output_.write("No deadlock was found.\n");
    for (std::size_t i = 0; i < deadlocks.size(); ++i) write_story(i + 1, deadlocks[i]);
    for (const auto& one : answer_.inversions()) write_order(one);
  }

 private:
  void write_story(std::size_t number, const Deadlocks::Deadlock& one) {
    print(output_, "{} {}: {} of {} threads, closed at {}\n",
          one.proved() ? "Deadlock" : "Possible deadlock", number, one.cycle ? "a cycle" : "a knot",
          one.members.size(), names_.moment(one.closed));
    for (const auto& member : one.members) {
      print(output_, "  {} has waited since {}{}\n", names_.thread(member.place.thread),
            names_.moment(member.since),
            member.left_processor ? "" : ", but was not seen to leave its processor");
      for (const auto& step : member.place.steps) write_step(step);
    }
    write_end_text(one);
    for (const auto& victim : one.victims)
      print(output_, "  Behind it, {} has waited since {} for {}\n",
            names_.thread(victim.place.thread), names_.moment(victim.since),
            object_of(victim.place.object, victim.place.behind));
    output_.write("\n");
  }

  void write_step(const trace_analysis::WaitKnots::Step& step) {
    if (answer_.objects().all()[step.object].thread != nobody)
      print(output_, "    for the end of {}\n", names_.thread(step.owner));
    else
      print(output_, "    for {}, acquired by {} at {}\n", names_.object(step.object),
            names_.thread(step.owner), names_.moment(step.owned_since));
  }

  // "Mutant 0x1000 of thread 8", "the end of thread 8"
  std::string object_of(ObjectIndex object, Index owner) const {
    return answer_.objects().all()[object].thread != nobody
               ? "the end of " + names_.object(object)
               : fmt::format("{} of {}", names_.object(object), names_.thread(owner));
  }

  void write_end_text(const Deadlocks::Deadlock& one) {
    if (!one.end) {
      print(output_, "  It lasts to the end of the trace, {}{}\n",
            names_.duration_text(length_of(one, observed_)),
            one.events_missing ? ", as far as is known: events are missing" : "");
      return;
    }
    print(output_,
          "  After {} it was broken at {}: ", names_.duration_text(length_of(one, observed_)),
          names_.moment(one.end->moment));
    if (one.end->status)
      print(output_, "the wait of {} ended with {}", names_.thread(one.end->thread),
            nt_status_text(*one.end->status));
    else
      print(output_, "{} no longer waited", names_.thread(one.end->thread));
    const auto by = one.end->by;
    if (by != nobody && by != one.end->thread && !observed_.population.threads()[by].idle_of)
      print(output_, ", when {} ran", names_.thread(by));
    output_.write("\n");
  }

  void write_order(const LockOrder::Inversion& one) {
    print(output_, "{}, {}\n",
          one.witnesses.size() == 2
              ? "Two mutants taken in opposite orders"
              : fmt::format("{} mutants taken in a circle", one.witnesses.size()),
          answer_.is_deadlocked(one) ? "which led to a deadlock above"
                                     : "which can lead to a deadlock but did not");
    for (const auto& witness : one.witnesses)
      print(output_, "  {} took {} at {}\n    when it may have held {} since {}\n",
            names_.thread(witness.thread), names_.object(witness.taken),
            names_.moment(witness.taken_at), names_.object(witness.held),
            names_.moment(witness.held_since));
    output_.write("\n");
  }

  void write_suspects() {
    const auto& suspects = answer_.suspects();
    print(output_,
          "The trace does not name what threads wait for, so no deadlocks can be found. {} to the "
          "end of the trace{}{}\n",
          counted(suspects.size(), "thread waits", "threads wait"),
          suspects.empty()      ? ""
          : answer_.any_ready() ? ", and nothing has made them ready"
                                : "; the trace does not record whether anything made them ready",
          suspects.empty() ? "." : ":");
    for (std::size_t i = 0; i < std::min(suspects.size(), suspects_in_text); ++i)
      print(output_, "  {} since {}{}\n", names_.thread(suspects[i].thread),
            names_.moment(suspects[i].since),
            suspects[i].reason ? " (" + wait_reason_text(*suspects[i].reason) + ")" : "");
    if (suspects.size() > suspects_in_text)
      print(output_, "  {}\n",
            counted(suspects.size() - suspects_in_text, "more thread", "more threads"));
  }

  Output& output_;
  const Deadlocks& answer_;
  const WaitNames& names_;
  const trace_analysis::Observed& observed_;
};

}  // namespace

i64 length_of(const Deadlocks::Deadlock& one, const trace_analysis::Observed& observed) {
  const i64 end = one.end ? one.end->moment.time : observed.last.value_or(one.closed.time);
  return trace_analysis::ticks_between(one.closed.time, end);
}

void write_deadlock_text(Output& output, const Deadlocks& answer, const WaitNames& names,
                         const trace_analysis::Observed& observed) {
  DeadlockText{output, answer, names, observed}.write();
}

}  // namespace coldtrace::cli
