#pragma once

#include "tracefile/synthesis/disk.hpp"

namespace coldtrace::tracefile::synthesis {

struct MachineOptions {
  u16 processors = 2;
  u64 seed = 1;
  u32 first_id = 1000;      // of the processes and threads that have none of their own
  bool reuses_ids = false;  // at once; else an id is given once
  // What a program does in no time, the code for it takes: from half of this to all of it.
  Duration code_time = std::chrono::microseconds{1};
};

struct ThreadOptions {
  u64 start_address = 0;  // 0: one is made up
  i8 priority = 8;
  u64 affinity = ~u64{};
  u16 processor = 0;  // where it shall run first
  u32 id = 0;         // 0: the next one
};

struct ProcessOptions {
  std::string image;
  std::string command_line;
  u32 id = 0;
};

// A machine with processors, a clock and a disk, on which threads run programs. It runs until
// nothing can happen any more.
class Machine {
 public:
  Machine(const MachineOptions& options, std::vector<MachineLog*> logs);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // --- what is there when the trace begins; the programs of the threads come from the caller
  Process& add_process(const ProcessOptions& options, u32 parent = 0);
  Thread& add_thread(Process& process, const ThreadOptions& options);
  DispatcherObject& add_object(ObjectType type, i64 state, i64 limit = 1);
  DispatcherObject& add_mutant() { return add_object(ObjectType::mutant, 1); }
  DispatcherObject& add_semaphore(i64 count, i64 limit = 0x7fff'ffff) {
    return add_object(ObjectType::semaphore, count, limit);
  }

  void run();
  ScenarioAnswers finish();

  u64 now() const { return state_.now(); }
  u64 random(u64 below) { return state_.random.below(below); }
  MachineState& state() { return state_; }

  // --- what the current thread does, in no time
  Process& create_process(const ProcessOptions& options);
  Thread& create_thread(Process& process, const ThreadOptions& options);
  void start(Thread& thread, Program program);
  bool release(DispatcherObject& object, i64 count, u8 increment);
  void set(DispatcherObject& event, u8 increment);
  void set_timer(DispatcherObject& timer, Duration due);
  void enter(const Service& service, std::span<const u64> arguments);
  void leave(const Service& service, u64 status);
  void request(DispatcherObject& done, bool write, u64 offset, u32 bytes);

  // --- what comes from outside
  // A device interrupts the first processor at this time, and its deferred call does this.
  void plan_interrupt(u64 time, u64 address, u8 vector, std::function<void()> call);
  void lose_buffers(u16 processor, u64 from, u64 to);

 private:
  void look(Processor& processor);
  void go_on(Processor& processor);
  bool advance(Processor& processor);
  bool take_request(Processor& processor);
  void step(Processor& processor);
  void compute(Processor& processor);
  void end_thread(Processor& processor);
  void end_process(Process& process);
  void abandon_mutants(Thread& thread);
  Process& make_process(const ProcessOptions& options, u32 parent);
  Thread& make_thread(Process& process, const ThreadOptions& options);
  u32 next_id();
  u64 next_address();

  MachineOptions options_;
  MachineState state_;
  Interrupts interrupts_{state_};
  Scheduler scheduler_{state_};
  Clock clock_{state_, interrupts_};
  Waits waits_{state_, clock_, scheduler_};
  Disk disk_{state_, interrupts_, waits_};
  std::deque<DispatcherObject> objects_;
  std::vector<u32> free_ids_;  // the last one first
  u32 next_id_;
  u64 next_address_;
};

}  // namespace coldtrace::tracefile::synthesis
