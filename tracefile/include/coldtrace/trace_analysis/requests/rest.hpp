#pragma once

#include <map>
#include <string>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/records/row_order.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"
#include "coldtrace/trace_analysis/requests/network_io.hpp"
#include "coldtrace/trace_analysis/scheduling/turns.hpp"
#include "coldtrace/tracefile/events/clock.hpp"

namespace coldtrace::trace_analysis {

// When a device would be turned off, and what that costs, in units of 100 ns.
struct RestPolicy {
  std::vector<i64> timeouts;  // off after this long without anything to do
  i64 spin_up = 0;            // how long it then takes to come back
  i64 break_even = 0;         // being off for less does not pay
};

// What a policy would have saved.
struct RestSaving {
  i64 idle = 0;      // ticks of the idle times in which the device was off
  u64 times = 0;     // how many of them
  u64 spin_ups = 0;  // that something had to wait for
  i64 waiting = 0;   // for all of these, 100 ns

  // `spin_up`: how long somebody then had to wait, if anybody did.
  void add(i64 ticks, std::optional<i64> spin_up);
  // How long it was off, in units of 100 ns, if it was turned off after `timeout` in each.
  [[nodiscard]] i64 off(const tracefile::Clock& clock, i64 timeout) const;
};

// Who ended an idle time.
struct RestEnd {
  Index thread = nobody;
  Index process = nobody;  // where no thread is known
  u32 file = 0;            // a number in the FileTable of the requests
  bool in_dpc = false;     // a device or a timer made the thread ready
};

// A time without anything to do.
struct IdleTime {
  i64 from, to;
  std::optional<RestEnd> end;  // nothing: the trace ends
};

// What one device did. busy + idle + unknown is the time that was observed, in ticks.
class Rest {
 public:
  // How many of the longest idle times are kept.
  static constexpr std::size_t most_longest = 100;

  // Both must outlive it.
  Rest(core::Borrowed<tracefile::Clock> clock, core::Borrowed<RestPolicy> policy)
      : clock_{clock.get()}, policy_{policy.get()}, savings_(policy_.timeouts.size()) {}

  // Ticks.
  void add_busy(i64 from, i64 to);
  void add_idle(const IdleTime& idle);

  [[nodiscard]] i64 busy() const { return busy_; }
  [[nodiscard]] i64 idle() const { return idle_; }
  [[nodiscard]] const Histogram& busy_times() const { return busy_times_; }
  [[nodiscard]] const Histogram& idle_times() const { return idle_times_; }
  [[nodiscard]] const std::vector<IdleTime>& longest() const { return longest_; }  // longest first
  [[nodiscard]] const std::vector<RestSaving>& savings() const { return savings_; }  // by timeout
  // Of a policy that knows how long each idle time will be.
  [[nodiscard]] const RestSaving& optimum() const { return optimum_; }

  // By who ended them: how many idle times, and how long they were in total.
  struct Ended {
    u64 count = 0;
    i64 time = 0;
  };
  using Ender = std::pair<std::pair<Index, Index>, Ended>;  // thread, process
  // The longest in total first, or the most.
  [[nodiscard]] std::vector<Ender> ended(RowOrder order) const;

 private:
  const tracefile::Clock& clock_;
  const RestPolicy& policy_;
  i64 busy_ = 0, idle_ = 0;
  Histogram busy_times_, idle_times_;
  std::vector<IdleTime> longest_;
  std::vector<RestSaving> savings_;
  RestSaving optimum_;
  std::map<std::pair<Index, Index>, Ended> ended_;
};

// When processors, disks and the network had nothing to do, and who ended that. Time in which
// something may have happened unseen is unknown: neither busy nor idle.
class AtRest final : public Analysis {
 public:
  struct Device {
    enum class Kind : u8 { processor, disk, network };
    Kind kind;
    u32 number;
    auto operator<=>(const Device&) const = default;
  };
  using Sink = std::function<void(const Device&, const IdleTime&)>;

  // The network is busy for half of `network_window` ticks before and after each transfer.
  // `clock` and `policy` must outlive it; `each` may be empty.
  AtRest(core::Borrowed<tracefile::Clock> clock, core::Borrowed<RestPolicy> policy,
         i64 network_window, Sink each = {});
  AtRest(const AtRest&) = delete;
  AtRest& operator=(const AtRest&) = delete;

  // What `disk` and a NetworkIo report, which see the same events and finish before this.
  void set_disk(const DiskIo& disk) { disk_ = &disk; }
  void add_disk_busy(u32 disk, const BusyTime::Interval& interval);
  void add_transfer(const NetworkTransfer& record);
  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override { turns_.on_switch(record); }
  void on_ready(const Readied& record) override { turns_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void finish(const Observed& observed) override;

  [[nodiscard]] const std::map<Device, Rest>& devices() const { return devices_; }
  [[nodiscard]] i64 elapsed() const { return elapsed_; }

 private:
  struct Chain {
    i64 from, to;  // busy without a pause
  };

  Rest& rest(const Device& device);
  void on_turn(const Turn& turn);
  void on_interval(const Device& device, const BusyTime::Interval& interval);
  void add_gap(const Device& device, i64 from, i64 to, std::optional<RestEnd> end);
  void add_idle(const Device& device, const IdleTime& idle);
  void end_chain(u16 cpu);

  const tracefile::Clock& clock_;
  const RestPolicy& policy_;
  i64 network_window_;
  Sink each_;
  Turns turns_;
  const DiskIo* disk_ = nullptr;
  const Observed* observed_ = nullptr;
  std::map<Device, Rest> devices_;
  BusyTime network_;
  std::map<Device, i64> reached_;   // until when disks and the network are accounted for
  std::map<u16, Chain> chains_;     // by processor
  std::map<u16, IdleTime> rested_;  // likewise: ended by a turn that is not known yet
  i64 elapsed_ = 0;
};

}  // namespace coldtrace::trace_analysis
