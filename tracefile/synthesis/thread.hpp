#pragma once

#include <string>

#include "tracefile/synthesis/dispatcher_objects.hpp"
#include "tracefile/synthesis/program.hpp"

namespace coldtrace::tracefile::synthesis {

// KTHREAD_STATE.
enum class ThreadState : u8 {
  initialized = 0,
  ready = 1,
  running = 2,
  standby = 3,
  terminated = 4,
  waiting = 5,
};

// Of KWAIT_REASON.
namespace wait_reason {
constexpr u8 executive = 0;
constexpr u8 delay_execution = 4;
constexpr u8 user_request = 6;
constexpr u8 queue = 15;
constexpr u8 lpc_receive = 16;
constexpr u8 lpc_reply = 17;
constexpr u8 quantum_end = 30;
constexpr u8 preempted = 32;
constexpr u8 yield_execution = 33;
}  // namespace wait_reason

struct Process {
  u32 id;
  u32 parent;
  std::string image;
  std::string command_line;
  DispatcherObject object;
  u32 threads = 0;  // that have not ended
  u32 exit_status = 0;
};

struct Thread {
  Thread(Process& its_process, u32 its_id, u64 address)
      : process{&its_process}, id{its_id}, object{ObjectType::thread, address, 0} {}

  bool is_idle() const { return id == 0; }

  Process* process;
  u32 id;
  DispatcherObject object;
  u64 start_address = 0;
  std::size_t number = 0;  // counts all threads of the machine, idle ones too
  u32 exit_status = 0;

  // --- scheduling
  ThreadState state = ThreadState::initialized;
  i8 base_priority = 8;
  i8 priority = 8;
  u64 affinity = ~u64{};
  u32 quantum = 0;         // clock interrupts that it may still run
  u16 last_processor = 0;  // or where it shall run first
  u64 remaining = 0;       // ticks that it still computes

  // --- what it does
  Program program;
  std::coroutine_handle<> resume_at;
  enum class Request : u8 { none, wait, yield } request = Request::none;
  Wait wait;
  u32 wait_status = 0;
  u64 wait_version = 0;                  // another one for each wait
  bool wait_ended = false;               // and the thread has not run since
  std::vector<DispatcherObject*> owned;  // mutants
};

}  // namespace coldtrace::tracefile::synthesis
