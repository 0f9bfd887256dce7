#pragma once

#include <map>
#include <memory>
#include <string>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_export/byte_sink.hpp"
#include "coldtrace/trace_export/switch_chain.hpp"

namespace coldtrace::trace_export {

class CtfStream;

// Writes a timeline as a CTF 1.8 trace with the events of LTTng's kernel tracer: switches, who made
// whom ready, interrupts, processes and threads, with a stream for each processor. Calls, requests
// and regions, which LTTng records differently or not at all, are events of a stream of their own,
// written when they end.
class CtfTrace final : public TimelineSink {
 public:
  // All must outlive it.
  CtfTrace(core::Borrowed<TimelineNames> names, FileSink write);
  ~CtfTrace() override;
  CtfTrace(const CtfTrace&) = delete;
  CtfTrace& operator=(const CtfTrace&) = delete;

  // Things that began before the first event of the trace.
  [[nodiscard]] u64 left_out() const { return left_out_; }
  // Events of processors beyond the limit, and those whose time had to change.
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
  struct Interrupt {
    i64 begin, end;
    u64 order;  // of its end
    u32 service;
  };
  struct Waking {
    i64 time;
    std::string fields;
  };
  // A processor since its last switch: an interrupt is written once it is done.
  struct Processor {
    std::unique_ptr<CtfStream> stream;
    std::vector<Interrupt> interrupts;
    std::vector<Waking> wakings;
  };

  static constexpr std::size_t most_processors = 1024;
  static constexpr std::size_t most_held = std::size_t{1} << 16U;

  Processor* processor(u16 cpu);
  CtfStream& requests();
  bool has_place(i64 begin);
  void flush(Processor& processor);
  void write_boundary(CtfStream& stream, i64 time, u32 service, bool enters);
  void write(const ChainedSwitch& change);
  std::string name_of(Index thread, u32 id) const;
  i32 tid_of(Index thread) const;
  void write_population(const Observed& observed);

  const TimelineNames& names_;
  FileSink write_;
  SwitchChain chain_;
  std::vector<ChainedSwitch> changes_;  // of the current switch
  std::map<u16, Processor> processors_;
  std::unique_ptr<CtfStream> requests_;
  std::vector<i32> priorities_;  // by thread, the last one seen
  u64 order_ = 0;
  u64 left_out_ = 0, beyond_limits_ = 0;
};

}  // namespace coldtrace::trace_export
