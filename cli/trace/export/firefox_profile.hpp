#pragma once

#include <map>
#include <variant>

#include "cli/output/json.hpp"
#include "cli/trace/analysis/processors/stack_labels.hpp"
#include "cli/trace/export/export_names.hpp"
#include "coldtrace/trace_export/sampled_threads.hpp"

namespace coldtrace::cli {

// Collects a timeline by thread, and writes it as a processed profile of the Firefox Profiler: its
// samples, and waits, calls, requests and regions as markers. In traces without samples, threads
// have one for each turn.
// Source: firefox-devtools/profiler, src/types/profile.ts, version 60 of the processed format.
class FirefoxProfile final : public trace_export::TimelineSink {
 public:
  explicit FirefoxProfile(const ExportNames& names) : names_{names} {}

  // To be called once everything was seen.
  void write(Output& output, const tracefile::AnyTrace& trace,
             const trace_export::SampledThreads& samples, const trace_analysis::CodeNames& code,
             const StackLabels& labels);

  // The number of markers and turns beyond the limit.
  u64 left_out() const { return left_out_; }
  // The number of things that began before the first event of the trace.
  u64 begun_before() const { return begun_before_; }

  // Leaves out the samples of threads that are not shown.
  void show_only(std::function<bool(trace_analysis::Index)> is_shown) {
    is_shown_ = std::move(is_shown);
  }

  void on_switch(const trace_export::ContextSwitch& record, const trace_export::Turn* ended,
                 bool is_shown) override;
  void on_last_turn(const trace_export::Turn& turn, bool misses_events) override;
  void on_call(const trace_export::Services::Seen& seen) override;
  void on_disk_request(const trace_export::DiskRequest& request) override;
  void on_file_operation(const trace_export::FileOperation& operation) override;
  void on_region(const trace_export::Region& region) override;

 private:
  struct Wait {
    std::optional<u8> reason;
    trace_analysis::Index waker;
    bool in_dpc;
  };
  struct Call {
    u32 service;
  };
  struct Disk {
    trace_analysis::DiskAction action;
    std::optional<u32> disk;
    std::optional<u64> bytes;
  };
  struct File {
    trace_analysis::FileAction action;
    u32 file;
    std::optional<u64> bytes;
    u32 status;
  };
  struct Marker {
    i64 begin, end;  // nanoseconds
    std::variant<Wait, Call, Disk, File, trace_export::Region> what;
  };
  struct Stay {
    i64 begin, end;  // nanoseconds
  };
  struct OfThread {
    std::vector<Marker> markers;
    std::vector<Stay> stays;
  };

  bool has_room();
  void add_wait(const trace_export::Turn& turn);
  void add_marker(trace_analysis::Index thread, Marker marker);

  // Writes what all threads share.
  class Writer;

  static constexpr u64 most_kept = u64{1} << 22U;

  const ExportNames& names_;
  std::function<bool(trace_analysis::Index)> is_shown_;
  std::vector<bool> was_shown_;  // by processor: its current turn
  std::map<trace_analysis::Index, OfThread> threads_;
  u64 kept_ = 0, left_out_ = 0, begun_before_ = 0;
};

}  // namespace coldtrace::cli
