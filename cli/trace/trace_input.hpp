#pragma once

#include <memory>
#include <string>

#include "cli/command/common_options.hpp"
#include "coldtrace/tracefile/ctrace.hpp"
#include "coldtrace/tracefile/trace.hpp"

namespace coldtrace::cli {

// Options of every command that reads a trace.
struct TraceInputOptions : CommonOptions {
  std::string file;
  unsigned jobs = 1;
  unsigned pointer_size = 0;
  u64 unpacked_limit = u64{64} << 30;
  u64 names_limit = u64{512} << 20;
};

void add_trace_input_options(Command& command, TraceInputOptions& options);

// An opened trace with what it reads from, gzip unpacked.
struct TraceInput {
  std::unique_ptr<core::ImageSource> file;
  std::unique_ptr<core::ImageSource> unpacked;  // null when the file is not compressed
  // One of the two, by what the file is.
  std::unique_ptr<tracefile::Trace> trace;
  std::unique_ptr<tracefile::Ctrace> ctrace;
  core::Findings findings;
};

// What the first pass over a trace is for: lines with names, or the number of events by kind.
enum class TraceUse : u8 { lines, counts };

// Nothing when the file cannot be read, which `report` then says.
std::optional<TraceInput> open_trace(const TraceInputOptions& options, TraceUse use,
                                     Report& report);

// "etl" or "ctrace".
std::string_view format_of(const TraceInput& input);

// The object of the trace's header: session, machine, clock and loss.
void write_session(JsonWriter& json, const TraceInput& input);
void write_session(JsonWriter& json, const tracefile::Ctrace& trace);

}  // namespace coldtrace::cli
