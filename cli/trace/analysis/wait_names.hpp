#pragma once

#include "cli/trace/analysis/analysis_input.hpp"
#include "coldtrace/trace_analysis/function_names.hpp"
#include "coldtrace/trace_analysis/open_waits.hpp"

namespace coldtrace::cli {

// How answers about waits name threads, objects and moments.
class WaitNames {
 public:
  // All must outlive it.
  WaitNames(const tracefile::AnyTrace& trace, const trace_analysis::Observed& observed,
            const trace_analysis::WaitObjects& objects);

  // "thread 2008 of prodcons.exe (2000)"
  std::string thread(trace_analysis::Index index) const;
  // "Mutant 0xfffffa8001000000"; a thread object is the thread.
  std::string object(trace_analysis::ObjectIndex index) const;
  // The name that a thread was given, or what lies at its start address; may be empty.
  std::string function(trace_analysis::Index index) const;
  // "Semaphore", and of one for calls whether clients or servers wait for it.
  static std::string kind(const trace_analysis::WaitObjects::Object& object);
  static std::string reason(u8 reason);

  // Ticks in units of 100 ns.
  u64 duration(u64 ticks) const;
  // "0.0012345 s"
  std::string seconds(u64 ticks) const;
  // "+0.0012345"
  std::string since_start(i64 time) const { return times_.since_start(time); }
  // "+0.0012345 (event at 0x10000+0x1a8)": where `trace decode --header-fields` has it.
  std::string moment(const trace_analysis::Moment& moment) const;

  // The members NAME, a time, and PREFIX_event.
  void write_moment(JsonWriter& json, std::string_view time_name, std::string_view event_name,
                    const std::optional<trace_analysis::Moment>& moment) const;
  void write_thread(JsonWriter& json, trace_analysis::Index index) const;
  void write_object(JsonWriter& json, trace_analysis::ObjectIndex index) const;

 private:
  const trace_analysis::Population& population_;
  const trace_analysis::WaitObjects& objects_;
  const tracefile::Clock& clock_;
  TraceTimes times_;
  trace_analysis::ImageOffsets images_;
  i64 first_;
};

// Numbers of the processes that "PID", a name or a glob means; what none has is noted.
std::vector<trace_analysis::Index> find_processes(const trace_analysis::Population& population,
                                                  const std::string& wanted,
                                                  core::Findings& findings);

// No answer at all has no number.
std::optional<u64> number_or_null(trace_analysis::Index index);

}  // namespace coldtrace::cli
