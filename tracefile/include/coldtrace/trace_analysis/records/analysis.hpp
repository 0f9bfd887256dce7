#pragma once

#include <span>

#include "coldtrace/trace_analysis/records/losses.hpp"
#include "coldtrace/trace_analysis/records/records.hpp"

namespace coldtrace::trace_analysis {

// What all analyses of one pass share. Complete once finish() is called.
struct Observed {
  const Population& population;
  const Losses& losses;
  std::optional<i64> first, last;  // times of the earliest event, and of the latest so far
  u64 events = 0;
  u64 records = 0;     // events that became a record
  u64 unreadable = 0;  // events of such kinds whose fields could not be read
};

// Answers a question from the records of a trace, which come in order of time.
class Analysis {
 public:
  virtual ~Analysis() = default;

  virtual void begin(const Observed&) {}
  virtual void on_switch(const ContextSwitch&) {}
  virtual void on_ready(const Readied&) {}
  virtual void on_affinity_change(const AffinityChange&) {}
  virtual void on_message(const MessageRecord&) {}
  virtual void on_collision(const Collision&) {}
  virtual void on_priority_change(const PriorityChange&) {}
  virtual void on_wait_begin(const WaitBegin&) {}
  virtual void on_wait_end(const WaitEnd&) {}
  virtual void on_call(const CallRecord&) {}
  virtual void on_service_name(const ServiceName&) {}
  virtual void on_interruption(const Interruption&) {}
  virtual void on_disk_start(const DiskStart&) {}
  virtual void on_disk_end(const DiskEnd&) {}
  virtual void on_sample(const Sample&) {}
  virtual void on_stack(const StackWalk&) {}
  virtual void on_file_start(const FileStart&) {}
  virtual void on_file_end(const FileEnd&) {}
  virtual void on_network_transfer(const NetworkTransfer&) {}
  virtual void on_network_start(const NetworkStart&) {}
  virtual void on_network_end(const NetworkEnd&) {}
  virtual void on_process(const ProcessRecord&) {}
  virtual void on_thread(const ThreadRecord&) {}
  virtual void finish(const Observed&) {}

 protected:
  Analysis() = default;
  Analysis(const Analysis&) = default;
  Analysis& operator=(const Analysis&) = default;
};

}  // namespace coldtrace::trace_analysis
