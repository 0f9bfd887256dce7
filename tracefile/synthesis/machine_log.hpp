#pragma once

#include <span>
#include <string_view>

#include "tracefile/synthesis/processor.hpp"

namespace coldtrace::tracefile::synthesis {

// Where and when something happens: on this processor, while this thread is its current one.
struct Moment {
  u64 time;
  u16 processor;
  const Thread& thread;
};

struct ContextSwitch {
  const Thread& next;
  ThreadState state;  // of the thread that leaves, the current one
  u8 wait_reason;
};

struct Readied {
  const Thread& thread;
  u8 increment;  // of its priority
  bool in_deferred_call;
};

// A service as its callers know it.
struct Service {
  u32 number;
  u32 name_hash = 0;  // not 0: a service that is traced by name
  u64 address = 0;
};

struct DiskRequest {
  const Thread* thread;
  u64 irp;
  bool write;
  u64 offset;
  u32 bytes;
  u64 start;
};

struct PageFault {
  u64 address;
  u64 instruction;
  bool write;
};

struct Message {
  const Thread& receiver;
  u64 window;
  u32 number;
};

// What a machine tells while it runs. A log writes what its format can say.
class MachineLog {
 public:
  MachineLog() = default;
  MachineLog(const MachineLog&) = delete;
  MachineLog& operator=(const MachineLog&) = delete;
  virtual ~MachineLog() = default;

  virtual void process_listed(const Moment&, const Process&) {}  // there before the trace
  virtual void thread_listed(const Moment&, const Thread&) {}
  virtual void process_created(const Moment&, const Process&) {}
  virtual void process_ended(const Moment&) {}  // that of the current thread
  virtual void thread_created(const Moment&, const Thread&) {}
  virtual void thread_ended(const Moment&) {}

  virtual void switched(const Moment&, const ContextSwitch&) {}
  virtual void readied(const Moment&, const Readied&) {}

  virtual void wait_begun(const Moment&, const Wait&) {}
  virtual void wait_satisfied(const Moment&, const Thread& /*waiter*/, const DispatcherObject&,
                              u32 /*status*/) {}
  virtual void wait_ended(const Moment&, u32 /*status*/) {}  // the thread that waited runs again

  virtual void call_entered(const Moment&, const Service&, std::span<const u64> /*arguments*/) {}
  virtual void call_returned(const Moment&, const Service&, u64 /*status*/) {}
  virtual void routine_ended(const Moment&, const Routine&) {}
  virtual void page_fault(const Moment&, const PageFault&) {}

  virtual void disk_requested(const Moment&, const DiskRequest&) {}
  virtual void disk_completed(const Moment&, const DiskRequest&) {}
  virtual void key_pressed(const Moment&, std::span<const std::byte, 8> /*encrypted*/) {}
  virtual void message_sent(const Moment&, const Message&) {}

  // What a processor logs in between does not reach the file.
  virtual void loss_begins(u64 /*time*/, u16 /*processor*/) {}
  virtual void loss_ends(u64 /*time*/, u16 /*processor*/) {}

  virtual void end(u64 /*time*/) {}
};

}  // namespace coldtrace::tracefile::synthesis
