#pragma once

#include <set>

#include "cli/output/json.hpp"
#include "cli/trace/export/export_names.hpp"

namespace coldtrace::cli {

// Writes a timeline as the JSON of Chrome's tracing: a row for each processor with its threads and
// what interrupted them, calls on the rows of their threads; requests and regions, which overlap,
// are asynchronous events, and wakeups are flows.
// Source: "Trace Event Format", Google.
class ChromeEvents final : public trace_export::TimelineSink {
 public:
  ChromeEvents(Output& output, const ExportNames& names)
      : json_{output, Int64::number}, names_{names} {}

  // To be called before the first event.
  void begin();
  // To be called after the last one.
  void end();

  // The number of things that began before the first event of the trace, for which the format has
  // no place.
  u64 left_out() const { return left_out_; }

  void on_switch(const trace_export::ContextSwitch& record, const trace_export::Turn* ended,
                 bool is_shown) override;
  void on_call(const trace_export::Services::Seen& seen) override;
  void on_disk_request(const trace_export::DiskRequest& request) override;
  void on_file_operation(const trace_export::FileOperation& operation) override;
  void on_region(const trace_export::Region& region) override;

 private:
  struct Row {
    u32 pid;
    u64 tid;
  };
  Row row_of(trace_analysis::Index thread);
  static Row row_of_disk(std::optional<u32> disk);
  bool has_place(i64 begin);
  void write_complete(std::string_view category, std::string_view name, Row row, i64 begin,
                      i64 end);
  // `write_arguments` writes the members of the object `args`.
  template <class WriteArguments>
  void write_pair(std::string_view category, std::string_view name, Row row, i64 begin, i64 end,
                  WriteArguments write_arguments);
  void write_head(std::string_view phase, std::string_view category, std::string_view name, Row row,
                  i64 time);
  void write_wake(const trace_export::Turn& turn);
  void write_name(std::string_view what, Row row, std::string_view name);

  JsonWriter json_;
  const ExportNames& names_;
  std::vector<bool> is_shown_;  // by processor: its current turn
  std::set<u16> processors_;
  std::set<std::optional<u32>> disks_;
  std::set<trace_analysis::Index> threads_;
  u64 pairs_ = 0, wakes_ = 0;
  u64 left_out_ = 0;
};

}  // namespace coldtrace::cli
