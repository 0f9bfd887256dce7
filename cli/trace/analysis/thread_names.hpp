#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/records/function_names.hpp"

namespace coldtrace::cli {

// "prodcons.exe (2000)"; "-" for nobody. As in the trace, and for text.
std::string process_name(const trace_analysis::Population& population, trace_analysis::Index index);
std::string process_text(const trace_analysis::Population& population, trace_analysis::Index index);

// Ids and names of a thread and its process, as far as the trace tells.
struct ThreadIds {
  std::optional<u32> tid, pid;
  std::string process;  // may be empty
};
ThreadIds ids_of(const trace_analysis::Population& population, trace_analysis::Index thread);
// For a process without a known thread.
ThreadIds ids_of_process(const trace_analysis::Population& population,
                         trace_analysis::Index process);

// The names of threads, processes and moments in answers.
class ThreadNames {
 public:
  // All must outlive it.
  ThreadNames(const tracefile::AnyTrace& trace, const trace_analysis::Observed& observed,
              trace_analysis::FunctionNames& functions);

  // "thread 2008 of prodcons.exe (2000)"
  std::string thread(trace_analysis::Index index) const;
  std::string process(trace_analysis::Index index) const {
    return process_text(population_, index);
  }
  std::string process_name(trace_analysis::Index index) const {
    return cli::process_name(population_, index);
  }
  // The name given to a thread, else what is at its start address; may be empty.
  std::string function(trace_analysis::Index index) const;
  // What is at its start address, else empty.
  std::string start_function(trace_analysis::Index index) const;
  // What is at an address of a process, or of the kernel, at a time; else the address.
  std::string code(std::optional<u32> pid, u64 address, i64 time) const;

  const TraceTimes& times() const { return times_; }
  // Ticks in units of 100 ns.
  i64 duration(i64 ticks) const { return times_.duration(ticks); }
  // "12.35 ms"
  std::string duration_text(i64 ticks) const { return times_.text(ticks); }
  // "+0.0012345"
  std::string since_start(i64 time) const { return times_.since_start(time); }
  // "+0.0012345 (event at 0x10000+0x1a8)": the place that `trace decode --header-fields` shows.
  std::string moment(const trace_analysis::Moment& moment) const;

  // The members NAME, a time, and PREFIX_event.
  void write_moment(JsonWriter& json, std::string_view time_name, std::string_view event_name,
                    const std::optional<trace_analysis::Moment>& moment) const;
  void write_thread(JsonWriter& json, trace_analysis::Index index) const;

 protected:
  const trace_analysis::Population& population_;

 private:
  TraceTimes times_;
  trace_analysis::FunctionNames& functions_;
  i64 first_;
};

// "UserRequest"; "reason 99" if it has no name.
std::string wait_reason_text(u8 reason);

// The place of an event: a buffer of the file, and an offset in it.
void write_place(JsonWriter& json, const std::optional<trace_analysis::Place>& place);

// Null for nobody.
std::optional<u64> number_or_null(trace_analysis::Index index);

}  // namespace coldtrace::cli
