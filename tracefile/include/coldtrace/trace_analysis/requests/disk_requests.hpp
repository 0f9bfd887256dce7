#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/records/counter_ticks.hpp"

namespace coldtrace::trace_analysis {

// A disk request that was seen to end. Times are in ticks.
struct DiskRequest {
  Moment end;
  std::optional<i64> begin;  // absent: not known
  DiskAction action;
  Index thread;  // that issued it
  std::optional<u32> disk;
  std::optional<u64> offset, bytes;
  std::optional<u64> file;     // address of its file object
  std::optional<u8> priority;  // an IO_PRIORITY_HINT
  std::optional<u32> status;
  // From begin to end, and for how long the disk worked on it: since it finished the previous
  // request. The rest of the time, the request waited in a queue.
  std::optional<i64> response, service;
};

// Matches the begin and end of requests by the address of their IRP. An .etl trace states the
// duration of a request at its end, and is trusted; a .ctrace trace has both events.
class DiskRequests final : public Analysis {
 public:
  using Sink = std::function<void(const DiskRequest&)>;
  struct Counts {
    u64 requests = 0;        // that were seen to end
    u64 lone_ends = 0;       // of unknown requests, which are not counted
    u64 lost_ends = 0;       // requests whose IRP began another one
    u64 contradictory = 0;   // requests whose own duration contradicts the begin of their IRP
    u64 untimed = 0;         // requests whose begin is not known
    u64 inferred = 0;        // requests attributed to the thread that logged their begin
    u64 reused_threads = 0;  // requests of a thread whose id was given to another one since
    u64 left_out = 0;        // begins beyond the limit
  };
  static constexpr std::size_t most_open = std::size_t{1} << 16;
  static constexpr std::size_t most_disks = 256;

  DiskRequests(CounterTicks counter, Sink each) : counter_{counter}, each_{std::move(each)} {}

  void begin(const Observed& observed) override { observed_ = &observed; }
  void on_disk_start(const DiskStart& record) override;
  void on_disk_end(const DiskEnd& record) override;

  [[nodiscard]] const Counts& counts() const { return counts_; }
  // Whether a disk may have been busy between two moments with something that no request shows, or
  // with a request that has not ended by now.
  [[nodiscard]] bool is_uncertain(i64 from, i64 to) const;

  // The begin of the first request that has not ended by now.
  [[nodiscard]] std::optional<i64> first_open() const;
  // Begun and not ended, ordered by their begin.
  [[nodiscard]] std::vector<DiskStart> open() const;

 private:
  std::optional<DiskStart> take_start(const DiskEnd& record, std::optional<i64> begin);
  std::optional<i64> begin_of(const DiskEnd& record) const;
  void set_thread(DiskRequest& request, const DiskEnd& record,
                  const std::optional<DiskStart>& start);
  void set_service(DiskRequest& request);
  void doubt(i64 from, i64 to);
  void note_unseen_end(i64 at_latest);

  CounterTicks counter_;
  Sink each_;
  const Observed* observed_ = nullptr;
  std::unordered_map<u64, DiskStart> open_;  // by IRP
  std::unordered_map<u32, i64> last_end_;    // by disk
  std::optional<i64> unseen_end_;  // of requests whose disk is not known: the latest possible
  std::multiset<i64> begins_;      // of these
  std::vector<Losses::Stretch> uncertain_;  // in order and disjoint
  Counts counts_;
};

}  // namespace coldtrace::trace_analysis
