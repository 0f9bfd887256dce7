#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "coldtrace/trace_analysis/records/analysis.hpp"
#include "coldtrace/trace_analysis/records/counter_ticks.hpp"

namespace coldtrace::trace_analysis {

// A request to a disk that was seen to end. Times are in ticks.
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
  // From begin to end, and how much of that the disk worked on it: since it was done with the
  // request before. The rest it waited in a queue.
  std::optional<i64> response, service;
};

// Puts the begin and the end of requests together, by the address of their IRP. An .etl trace tells
// how long a request took with its end, which is believed; a .ctrace trace has both events.
class DiskRequests final : public Analysis {
 public:
  using Sink = std::function<void(const DiskRequest&)>;
  struct Counts {
    u64 requests = 0;        // that were seen to end
    u64 lone_ends = 0;       // of nothing that is known: no requests
    u64 lost_ends = 0;       // requests whose IRP began another one
    u64 contradictory = 0;   // requests whose own duration denies the begin that their IRP has
    u64 untimed = 0;         // requests whose begin is not known
    u64 inferred = 0;        // requests whose thread is the one that logged their begin
    u64 reused_threads = 0;  // requests of a thread whose id another one has since
    u64 left_out = 0;        // begins beyond the most
  };
  static constexpr std::size_t most_open = std::size_t{1} << 16;
  static constexpr std::size_t most_disks = 256;

  DiskRequests(CounterTicks counter, Sink each) : counter_{counter}, each_{std::move(each)} {}

  void begin(const Observed& observed) override { observed_ = &observed; }
  void on_disk_start(const DiskStart& record) override;
  void on_disk_end(const DiskEnd& record) override;

  [[nodiscard]] const Counts& counts() const { return counts_; }
  // Whether a disk may have been busy between two moments with what no request tells of, or with
  // one that has not ended by now.
  [[nodiscard]] bool is_uncertain(i64 from, i64 to) const;

  // The begin of the first one that has not ended by now.
  [[nodiscard]] std::optional<i64> first_open() const;
  // Begun and not ended, in the order of their begin.
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
  std::optional<i64> unseen_end_;  // of what nobody knows the disk of: the latest that it may be
  std::multiset<i64> begins_;      // of these
  std::vector<Losses::Stretch> uncertain_;  // in order, and apart
  Counts counts_;
};

}  // namespace coldtrace::trace_analysis
