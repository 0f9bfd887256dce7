#pragma once

#include <tuple>

#include "coldtrace/trace_analysis/processors/disk_waits.hpp"
#include "coldtrace/trace_analysis/waits/departures.hpp"
#include "coldtrace/trace_analysis/waits/edge_table.hpp"
#include "coldtrace/trace_analysis/waits/ended_waits.hpp"

namespace coldtrace::trace_analysis {

// Which waits of threads are explained by their own disk requests (see DiskWaits), and which
// threads wait at the end of the trace while a request of theirs is in progress. Memory grows with
// such threads, disks and kinds of requests, up to a stated limit.
class RequestWaits final : public Analysis {
 public:
  struct Edge {
    Index thread;
    std::optional<u32> disk;
    DiskAction action;
    EndedWaits ended;
    u64 by_interrupt = 0;  // of these, by a DPC right after the request did; others by their length
    std::optional<Moment> open_since;  // the thread waits at the end of the trace
  };
  static constexpr std::size_t most_edges = std::size_t{1} << 16;

  explicit RequestWaits(CounterTicks counter)
      : turns_{[this](const Turn& turn) { end_turn(turn); }}, disk_{counter} {}
  RequestWaits(const RequestWaits&) = delete;
  RequestWaits& operator=(const RequestWaits&) = delete;

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override;
  void on_thread(const ThreadRecord& record) override { turns_.on_thread(record); }
  void on_disk_start(const DiskStart& record) override { disk_.on_disk_start(record); }
  void on_disk_end(const DiskEnd& record) override { disk_.on_disk_end(record); }
  void finish(const Observed& observed) override;

  // In the order in which they came.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_.all(); }
  [[nodiscard]] u64 left_out() const { return edges_.left_out(); }  // waits

 private:
  Edge* edge(Index thread, std::optional<u32> disk, DiskAction action) {
    return edges_.find_or_add({thread, disk, action}, {thread, disk, action, {}, 0, std::nullopt});
  }
  void end_turn(const Turn& turn);
  void add_open(const DiskStart& request, const Observed& observed);

  Turns turns_;
  DiskWaits disk_;
  std::vector<std::optional<DiskWaits::Ended>> readied_;  // by thread, since it is ready
  Departures departures_;
  EdgeTable<Edge, std::tuple<Index, std::optional<u32>, DiskAction>> edges_{most_edges};
};

}  // namespace coldtrace::trace_analysis
