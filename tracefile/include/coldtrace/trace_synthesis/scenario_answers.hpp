#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/file_time.hpp"
#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// What is true of a synthetic run: what an analysis of its trace should find. The simulator adds it
// up from its own state. Times are ticks of 100 ns since `start`; threads and processes are
// identified by their places in the lists, since ids are reused.
struct ScenarioAnswers {
  struct Process {
    u32 id = 0;
    u32 parent = 0;  // id
    std::string image;
    std::optional<std::size_t> creator;  // thread; none: it was there before the trace
    std::optional<u64> created;
    std::optional<u64> ended;
    u32 exit_status = 0;
  };
  struct Wait {  // all waits for one reason, or of one thread for one object
    u64 count = 0;
    u64 time = 0;
  };
  struct OpenWait {
    u8 reason = 0;
    u64 since = 0;
  };
  struct Thread {
    std::size_t process = 0;
    u32 id = 0;
    u64 object = 0;  // address
    u64 start_address = 0;
    std::optional<std::size_t> creator;
    std::optional<u64> created;
    std::optional<u64> ended;
    u32 exit_status = 0;
    // From here on its time counts: its creation, or its first switch if it existed before.
    std::optional<u64> since;
    u64 run = 0;
    u64 interrupted = 0;  // of that, by ISRs and DPCs
    u64 ready = 0;
    u64 wait = 0;
    std::map<u8, Wait> waits;           // by KWAIT_REASON; open ones count up to the end
    std::optional<OpenWait> open_wait;  // that the trace does not see the end of
    u64 switches = 0;                   // how often it got a processor
    std::map<i8, u64> priorities;       // how long it had each, from `since` on
    u64 priority_changes = 0;
    u64 boosts = 0;      // ends of waits that were meant to raise its priority
    u64 increments = 0;  // by this much in total
  };
  struct Processor {
    u64 busy = 0;
    u64 idle = 0;
    u64 interrupted = 0;  // of both, by ISRs and DPCs
    u64 switches = 0;
  };
  struct ObjectWaits {
    std::size_t thread = 0;
    u8 type = 0;  // KOBJECTS
    u64 object = 0;
    Wait waits;
  };
  // Every thread that a member waits for waits for it in turn. Victims wait for members.
  struct Deadlock {
    std::vector<std::size_t> members;
    std::vector<std::size_t> victims;
    u64 closed = 0;
    std::optional<u64> ended;  // none: it lasts
  };
  // A thread waits for a mutant whose owner can run but does not, because threads with a priority
  // between the two run. No processor was idle then, or ran a thread with less than the owner's
  // priority.
  struct Inversion {
    std::size_t high = 0;
    std::size_t low = 0;               // the owner that could run
    std::vector<std::size_t> between;  // owners that wait for a mutant of the next one
    u64 object = 0;
    u64 from = 0;
    u64 to = 0;
    u64 time = 0;                        // within that stretch, while this was so
    std::map<std::size_t, u64> middles;  // threads with a priority between, and how long they ran
  };
  struct Service {
    u32 number = 0;
    u32 name_hash = 0;     // not 0: the service is traced by its name
    u64 calls = 0;         // that returned
    u64 inclusive = 0;     // of calls that are not inside a call of the same service
    u64 exclusive = 0;     // without the time in calls of other services
    u64 on_processor = 0;  // of `inclusive`, while the thread ran
    u64 open = 0;          // calls that never returned
  };
  struct Routine {
    u8 kind = 0;  // 0 ISR, 1 DPC, 2 DPC of a timer
    u64 address = 0;
    u64 count = 0;
    u64 inclusive = 0;
    u64 exclusive = 0;
  };
  struct DiskRequest {
    std::size_t thread = 0;
    u64 irp = 0;
    bool write = false;
    u64 offset = 0;
    u32 bytes = 0;
    u64 start = 0;
    std::optional<u64> end;
  };
  struct Loss {
    u16 processor = 0;
    u64 from = 0;
    u64 to = 0;
  };

  core::FileTime start;
  u64 elapsed = 0;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Processor> processors;
  std::vector<ObjectWaits> object_waits;
  std::vector<Deadlock> deadlocks;
  std::vector<Inversion> inversions;
  std::vector<Service> services;
  std::vector<Routine> routines;
  std::vector<DiskRequest> disk_requests;
  std::vector<Loss> losses;
};

}  // namespace coldtrace::tracefile
