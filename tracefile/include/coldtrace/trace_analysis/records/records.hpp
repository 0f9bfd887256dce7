#pragma once

#include <span>

#include "coldtrace/trace_analysis/records/population.hpp"

namespace coldtrace::trace_analysis {

// What events of either format say about a machine, in a few neutral records. Threads and processes
// are those of the Population, which knows them by the time a record names them.

// When and where a record comes from.
struct Moment {
  i64 time = 0;  // ticks
  std::optional<u16> cpu;
  Place place;
};

// Source: phnt ntkeapi.h, _KTHREAD_STATE.
enum class ThreadState : u8 {
  initialized = 0,
  ready = 1,
  running = 2,
  standby = 3,
  terminated = 4,
  waiting = 5,
  transition = 6,  // its kernel stack is swapped out
  deferred_ready = 7,
  gate_wait = 8,
  process_swapped = 9,
};

// A gate wait is like any other, with a state of its own in some versions of Windows.
[[nodiscard]] constexpr bool is_waiting(std::optional<ThreadState> state) {
  return state == ThreadState::waiting || state == ThreadState::gate_wait;
}

// A processor goes from one thread to another.
struct ContextSwitch {
  Moment moment;
  Index old_thread, new_thread;
  bool continues;  // the old thread is the one that the processor last switched to
  std::optional<ThreadState> old_state;
  std::optional<u8> wait_reason;  // a KWAIT_REASON
  std::optional<i8> old_priority, new_priority;
};

// By what, and why, the priority of a thread is raised when it is made ready.
// Source: Microsoft Learn "ReadyThread", AdjustReason and AdjustIncrement.
struct Adjustment {
  enum class Reason : u8 { none = 0, unwait = 1, boost = 2 };
  Reason reason;
  i8 increment;
};

// A thread is made ready to run.
struct Readied {
  Moment moment;
  Index thread;
  Index waker;  // nobody: a DPC, or not known
  bool in_dpc;
  std::optional<Adjustment> adjustment = std::nullopt;  // absent: the format does not say
};

// The priority of a thread is changed. Source: kernel events Thread/SetPriority, SetBasePriority,
// AutoBoostSetFloor and AntiStarvationBoost.
struct PriorityChange {
  enum class Kind : u8 {
    priority,
    base,
    floor,   // it owns a lock that others wait for, and meanwhile has at least the priority `now`
    starved  // it was ready for too long
  };
  Moment moment;
  Kind kind;
  Index thread;
  Index by;  // who logged it
  std::optional<i8> before, now;
  std::optional<u64> lock = std::nullopt;  // of a floor, its address
};

// What a thread can wait for, as far as the event shows.
enum class ObjectKind : u8 {
  unknown,
  event,
  notification_event,
  synchronization_event,
  mutant,
  process,
  queue,
  semaphore,
  thread,
  gate,
  timer,
  notification_timer,
  synchronization_timer,
  file,
  port,
};

// A dispatcher object that a thread waits for.
struct WaitedObject {
  u64 address;
  ObjectKind kind;
};

// Which of its objects a wait needs. Not known if each object has an event of its own: those that
// come before the thread leaves the processor belong to one wait.
enum class WaitNeeds : u8 { not_known, any, all };

// A thread is about to wait; if its objects are free, it will not leave the processor. A wait
// without objects waits for time to pass.
struct WaitBegin {
  Moment moment;
  Index thread;
  std::span<const WaitedObject> objects;
  WaitNeeds needs;
  std::optional<u8> reason;    // a KWAIT_REASON
  std::optional<i64> timeout;  // 100 ns; negative: from now; the least number: none
};

// A wait is satisfied, or ends otherwise, for example by its timeout. For the object if one is
// named, else for all.
struct WaitEnd {
  Moment moment;
  Index thread;
  std::optional<WaitedObject> object;
  u32 status;
  Index running;  // on that processor then; it may be the thread itself
};

// What can be called, or interrupts what is running.
struct Service {
  enum class Kind : u8 {
    system_call,          // by its number
    hashed_system_call,   // by the hash of its name
    system_call_address,  // by the address of its handler
    vxd_service,          // device id << 16 | service number
    isr,                  // by the address of the routine, like those that follow
    dpc,
    timer_dpc,
    io_timer,
    event_pair,  // of two events that the user has named, by the number of the pair
  };
  Kind kind;
  u64 number;
  friend auto operator<=>(const Service&, const Service&) = default;
};
[[nodiscard]] std::string_view to_string(Service::Kind kind);
// Whether its number is the address of code.
[[nodiscard]] bool has_address(Service::Kind kind);

// A thread calls a service, or comes back from it.
struct CallRecord {
  Moment moment;
  Index thread;  // nobody: not known
  bool enters;
  bool threadless;                        // the format never says which thread calls
  std::optional<Service> service;         // absent for a return that does not say from what
  std::optional<u64> cycles;              // as measured by the tracer itself
  std::optional<u64> key = std::nullopt;  // of a pair joined by a field, not by the thread
};

// The name that the trace itself gives a service.
struct ServiceName {
  Service service;
  std::string_view name;
};

// A routine that interrupted what ran on a processor, once it is done.
struct Interruption {
  Moment moment;  // of its end
  i64 begin;
  Service routine;
};

// What a disk is asked to do.
enum class DiskAction : u8 { read, write, flush, other };

// A request goes to a disk. An .etl trace logs most about it at its end.
struct DiskStart {
  Moment moment;
  u64 irp;
  Index thread;  // that issued it
  DiskAction action;
  std::optional<u32> disk;
  std::optional<u64> offset, bytes;
};

// A request to a disk is complete.
struct DiskEnd {
  Moment moment;
  std::optional<u64> irp;
  Index thread;  // that issued it; nobody: the event does not say
  std::optional<DiskAction> action;
  std::optional<u32> disk;
  std::optional<u64> offset, bytes;
  std::optional<u64> response;  // in ticks of the performance counter, as the kernel measured
  std::optional<u64> file;      // address of its file object
  std::optional<u8> priority;   // an IO_PRIORITY_HINT; absent: none was set
  std::optional<u32> status;
};

// What a processor was doing when the profile interrupt came.
struct Sample {
  Moment moment;
  Index thread;  // nobody: not known
  u64 address;
  bool counts;  // the processor was not in a low power state
  bool in_dpc, in_isr;
};

// The stack of an event that was logged before, or a part of it: kernel frames and user-mode frames
// come separately.
struct StackWalk {
  Moment moment;
  i64 event_time;
  Index thread;                 // whose stack it is
  std::span<const u64> frames;  // innermost first; none where the key of a stack has no meaning
  bool of_kernel;
};

// What a file system is asked to do.
enum class FileAction : u8 {
  create,  // or open
  cleanup,
  close,
  read,
  write,
  query_information,
  set_information,
  remove,
  rename,
  enumerate,
  notify,
  flush,
  control,
  other,
  count,  // of these
};

// A request goes to a file system.
struct FileStart {
  Moment moment;
  u64 irp;
  Index thread;  // that issued it
  FileAction action;
  std::optional<u64> file;      // address of the file object
  std::optional<u64> file_key;  // what the file objects of one file have in common
  std::optional<u64> bytes;
  std::string_view path;  // of what it creates or opens; may be empty
};

// About the status that a request ends with. Source: ntstatus.h, NTSTATUS: the severity is its two
// highest bits.
[[nodiscard]] constexpr bool is_error(u32 status) {
  return status >> 30U == 3;
}

// A file system is done with a request.
struct FileEnd {
  Moment moment;
  u64 irp;
  u32 status;
  std::optional<u64> bytes;  // moved, for a read or write
};

// The protocol of a network request.
enum class Protocol : u8 { tcp, udp, unknown };

// Bytes go to or come from another machine. For a request with an end of its own, at that end.
struct NetworkTransfer {
  Moment moment;
  Index process;
  Protocol protocol;
  bool is_sent;
  bool is_repeated;  // sent again for lack of an acknowledgement
  u64 bytes;
  std::string_view remote;  // its address; may be empty
  std::optional<u16> port;  // of the remote end
};

// A request to the network begins or ends.
struct NetworkStart {
  Moment moment;
  u64 irp;
  Index process;
  Protocol protocol;
  bool moves_bytes;  // it sends or receives; one to connect, for example, does not
  bool is_sent;
  std::string_view remote;
};
struct NetworkEnd {
  Moment moment;
  u64 irp;
  u64 bytes;
};

// A process or thread begins, ends, or is listed by a rundown; the Population has what is known.
enum class Life : u8 { begins, ends, was_there, is_left };
struct ProcessRecord {
  Moment moment;
  Life life;
  Index process;
};
struct ThreadRecord {
  Moment moment;
  Life life;
  Index thread;
  std::optional<i8> base_priority = std::nullopt;
  std::optional<u64> affinity = std::nullopt;  // a bit for each processor of its group
};

// A thread may use other processors from now on.
struct AffinityChange {
  Moment moment;
  Index thread;
  std::optional<u64> processors;  // of the first group; nothing: of another one
};

// What a thread does with a message of a local procedure call.
struct MessageRecord {
  enum class Kind : u8 { sent, received, waits_for_reply, wait_ended };
  Moment moment;
  Kind kind;
  Index thread;
  u32 message;  // its id; 0 for an ended wait
};

// A thread found a critical section of its process taken.
struct Collision {
  Moment moment;
  Index thread, owner;
  u64 lock;  // address of the critical section
};

// Source: phnt ntkeapi.h, _KWAIT_REASON and _KTHREAD_STATE; empty for a number without a name.
[[nodiscard]] std::string_view wait_reason_name(u8 reason);
[[nodiscard]] std::string_view to_string(ThreadState state);
[[nodiscard]] std::string_view to_string(DiskAction action);
[[nodiscard]] std::string_view to_string(FileAction action);
[[nodiscard]] std::string_view to_string(Protocol protocol);
// "VeryLow"; empty for a number without a name. Source: wdm.h, IO_PRIORITY_HINT.
[[nodiscard]] std::string_view io_priority_name(u8 priority);
// "Mutant", "SynchronizationEvent".
[[nodiscard]] std::string_view to_string(ObjectKind kind);

}  // namespace coldtrace::trace_analysis
