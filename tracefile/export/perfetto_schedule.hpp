#pragma once

#include <string>
#include <vector>

#include "coldtrace/trace_export/switch_chain.hpp"
#include "tracefile/export/perfetto_packets.hpp"

namespace coldtrace::trace_export {

// Writes context switches and ready events as Perfetto's own events of ETW, in an order that its
// importer takes, and a counter of processors in use.
class PerfettoSchedule {
 public:
  struct Ready {
    i64 time;
    std::optional<u16> cpu;
    u32 id, waker;
    std::optional<trace_analysis::Adjustment> adjustment;
    bool in_dpc;
  };

  explicit PerfettoSchedule(PerfettoPackets& packets) : packets_{packets} {}

  void add(const ChainedSwitch& change);
  void add(const Ready& ready);
  // What waits for the end of its tick.
  void flush();
  void describe_counter_of_processors();

 private:
  void flush_tick();
  void take_first_switch();
  template <class Fill>
  void add_event(Fill fill);
  void flush_events();
  void write(const ChainedSwitch& change);
  void write(const Ready& ready);
  void count_busy(const ChainedSwitch& change);

  static constexpr std::size_t events_together = 4096;  // bytes of them

  PerfettoPackets& packets_;
  i64 tick_ = 0;
  std::vector<ChainedSwitch> switches_;  // of the tick
  std::vector<Ready> readies_;           // of the tick
  std::string events_;                   // in front of the next packet of them
  std::vector<u32> busy_at_;             // by processor, as far as they are counted
  u64 busy_ = 0;
  bool has_busy_ = false;
};

}  // namespace coldtrace::trace_export
