#pragma once

#include <utility>

#include "coldtrace/trace_synthesis/scenario_answers.hpp"
#include "tracefile/synthesis/inversion_watch.hpp"
#include "tracefile/synthesis/machine_log.hpp"

namespace coldtrace::tracefile::synthesis {

// Keeps the sums of a run while it runs.
class Accounts {
 public:
  explicit Accounts(std::size_t processors);

  void process_added(const Process& process);
  void process_created(const Moment& at, const Process& process);
  void process_ended(const Moment& at);
  void thread_added(const Thread& thread);
  void thread_created(const Moment& at, const Thread& thread);
  void thread_ended(const Moment& at);

  void switched(const Moment& at, const ContextSwitch& change);
  void readied(u64 time, const Thread& thread, u8 increment);
  void priority_changed(u64 time, const Thread& thread);
  void wait_begun(const Moment& at, const Wait& wait);
  void wait_ended(u64 time, const Thread& thread);

  void call_entered(const Moment& at, const Service& service);
  void call_returned(const Moment& at);
  void routine_ended(const Moment& at, const Routine& routine);

  void disk_requested(const DiskRequest& request);
  void disk_completed(u64 time, const DiskRequest& request);

  void deadlocked(u64 time, const std::vector<const Thread*>& members,
                  const std::vector<const Thread*>& victims);
  void lost(u16 processor, u64 from, u64 to);

  // All there is to tell at this time, after which no more happens.
  ScenarioAnswers finish(u64 time, const std::vector<Processor>& processors,
                         const std::vector<PriorityInversion>& inversions);

 private:
  enum class Activity : u8 { unknown, running, ready, waiting, ended };
  using ServiceKey = std::pair<u32, u32>;  // number, hash of the name
  struct Call {
    ServiceKey service;
    u64 entered;
    u64 run;    // of the thread until then
    u64 inner;  // time of calls inside
  };
  struct State {
    Activity activity = Activity::unknown;
    u64 since = 0;
    u8 reason = 0;
    std::vector<Call> calls;
    std::vector<u64> objects;  // that it waits for
    u64 wait_begun = 0;
    i8 priority = 0;
    std::optional<u64> priority_since;
  };
  struct Sum {
    u8 type;
    ScenarioAnswers::Wait waits;
  };

  ScenarioAnswers::Thread& told(const Thread& thread);
  State& state(const Thread& thread);
  std::size_t place(const Thread& thread) const { return places_[thread.number]; }
  void become(u64 time, const Thread& thread, Activity activity, u8 reason = 0);
  void settle(u64 time, ScenarioAnswers::Thread& thread, const State& state);
  void settle_priority(u64 time, const Thread& thread);
  u64 run_until(u64 time, const Thread& thread);
  void stay(u64 time, u16 processor, const Thread& thread);
  void end_wait_for_objects(u64 time, std::size_t thread);
  void end_deadlocks(u64 time, std::size_t member);

  ScenarioAnswers answers_;
  std::vector<std::size_t> places_;   // of a thread by its number; idle ones have none
  std::vector<State> states_;         // as answers_.threads
  std::vector<u64> processor_since_;  // its last switch
  std::map<const Process*, std::size_t> processes_;
  std::map<std::pair<std::size_t, u64>, Sum> objects_;  // by thread and address
  std::map<ServiceKey, ScenarioAnswers::Service> services_;
  std::map<std::pair<u8, u64>, ScenarioAnswers::Routine> routines_;
  std::map<u64, std::size_t> open_requests_;  // by IRP
};

}  // namespace coldtrace::tracefile::synthesis
