#pragma once

#include "tracefile/synthesis/waits.hpp"

namespace coldtrace::tracefile::synthesis {

// A disk that serves one request after the other. Its interrupts come to the first processor.
class Disk {
 public:
  Disk(MachineState& state, Interrupts& interrupts, Waits& waits)
      : state_{state}, interrupts_{interrupts}, waits_{waits} {}

  // The current thread starts a request; `done` is signaled when it is complete.
  void start(DispatcherObject& done, bool write, u64 offset, u32 bytes);

 private:
  struct Queued {
    DiskRequest request;
    DispatcherObject* done;
  };

  void serve();
  void complete();
  u64 service_time(const DiskRequest& request);

  MachineState& state_;
  Interrupts& interrupts_;
  Waits& waits_;
  std::deque<Queued> queue_;  // the first one is being served
  u64 head_ = 0;              // where its last request ended
  u64 started_ = 0;           // requests
};

}  // namespace coldtrace::tracefile::synthesis
