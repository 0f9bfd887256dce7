#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_export/byte_sink.hpp"
#include "coldtrace/trace_export/switch_chain.hpp"

namespace coldtrace::trace_export {

class PerfettoPackets;
class PerfettoSchedule;

// Writes a timeline as a Perfetto trace: context switches and ready events as Perfetto's own ETW
// events, which become scheduling and thread states with wakers and wait reasons; calls,
// interrupts, requests and regions as slices; counters of processors in use and of disk requests.
// Source: google/perfetto, protos/perfetto/trace/, and src/trace_processor/importers/etw.
class PerfettoTrace final : public TimelineSink {
 public:
  struct Options {
    bool compress = false;
  };
  // All must outlive it.
  PerfettoTrace(core::Borrowed<TimelineNames> names, ByteSink write, Options options);
  ~PerfettoTrace() override;
  PerfettoTrace(const PerfettoTrace&) = delete;
  PerfettoTrace& operator=(const PerfettoTrace&) = delete;

  // Things that began before the first event of the trace.
  [[nodiscard]] u64 left_out() const { return left_out_; }
  // Requests beyond those that the counters of disks and the rows of requests have room for.
  [[nodiscard]] u64 beyond_limits() const { return beyond_limits_; }

  void on_switch(const ContextSwitch& record, const Turn* ended, bool is_shown) override;
  void on_last_turn(const Turn& turn, bool misses_events) override;
  void on_ready(const Readied& record) override;
  void on_call(const Services::Seen& seen) override;
  void on_disk_request(const DiskRequest& request) override;
  void on_file_operation(const FileOperation& operation) override;
  void on_region(const Region& region) override;
  void finish(const Observed& observed) override;

 private:
  struct Slice {
    i64 begin, end;
    u64 order;  // of its end
    std::string name;
  };
  // Slices of one row, the outermost of which has not ended.
  struct Row {
    std::vector<Slice> slices;
    bool is_described = false;
  };
  // Rows beside each other for things that overlap, by their last end.
  using Lanes = std::vector<i64>;
  struct Step {
    i64 time;
    i32 change;
  };

  static constexpr u32 lost_id = SwitchChain::lost_id;
  static constexpr u32 not_shown_id = SwitchChain::not_shown_id;

  void flush_interrupts(u16 cpu);
  void flush_slices(u64 track, Row& row);
  u64 track_of_thread(Index thread);
  std::optional<u64> lane(u64 family, i64 begin, i64 end, const std::string& name,
                          std::optional<u64> parent);
  bool has_place(i64 begin);
  void write_processes();
  void write_disk_queues();
  void write_losses(const Observed& observed);

  static constexpr std::size_t most_slices = 4096;  // held for one row
  static constexpr std::size_t most_lanes = 1024;
  static constexpr std::size_t most_steps = std::size_t{1} << 22U;

  const TimelineNames& names_;
  SwitchChain chain_;
  std::unique_ptr<PerfettoPackets> packets_;
  std::unique_ptr<PerfettoSchedule> schedule_;
  std::map<u64, Row> rows_;  // by track
  std::map<u64, Lanes> lanes_;
  std::map<std::optional<u32>, std::vector<Step>> disks_;
  std::size_t steps_ = 0;
  u64 order_ = 0;
  u64 left_out_ = 0, beyond_limits_ = 0;
};

}  // namespace coldtrace::trace_export
