#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/command/common_options.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/trace/lines/system_call_names.hpp"
#include "coldtrace/tracefile/opening/any_trace.hpp"
#include "coldtrace/tracefile/selection/event_selection.hpp"

namespace coldtrace::cli {

// Options of every command that reads a trace.
struct TraceInputOptions : CommonOptions {
  std::vector<std::string> files;
  // Not an option: the contents of pipes among `files` that were read already.
  std::map<std::string, std::shared_ptr<const core::ImageSource>> piped;
  unsigned jobs = 1;
  unsigned pointer_size = 0;
  bool force = false;
  std::optional<u64> unpacked_limit;
  u64 names_limit = u64{512} << 20;
  // Not an option: what the command reads, for the message about files of other kinds.
  std::string wanted = "an .etl or .ctrace file";
  // Not an option: which events the command needs, as far as their headers tell.
  const tracefile::EventSieve* sieve = nullptr;
};

void add_trace_input_options(Command& command, TraceInputOptions& options);
// The options without the argument that names the trace.
void add_trace_reading_options(Command& command, TraceInputOptions& options);

// What is wrong with the text of a time; empty if nothing.
std::string check_time(const std::string& text);

// --from and --to.
void add_time_options(Command& command, tracefile::EventSelection& selection,
                      const std::string& from = "Only events at this time (UTC) or later",
                      const std::string& to = "Only events at this time (UTC) or earlier");

// The same with everything else that selects events: providers, events, processes, threads,
// --where. --provider and --event; --where.
void add_kind_options(Command& command, tracefile::EventSelection& selection);
void add_where_option(Command& command, std::optional<std::string>& where);
// --process: ids, names or globs.
void add_process_option(Command& command, std::vector<std::string>& processes);
void add_selection_options(Command& command, tracefile::EventSelection& selection,
                           std::optional<std::string>& where);

struct TraceInput {
  tracefile::AnyTrace trace;
  core::Findings findings;
  std::unique_ptr<TerminalProgress> progress;

  // The progress of reading all events once more.
  core::Progress* begin_progress(const std::string& what);

  bool has_several_files() const { return trace.files().size() > 1; }
  // Reports the findings; if there are several files, with the name of each.
  void tell(Report& report) const;
};

// The purpose of the first pass over a trace: lines with names, or the number of events by kind.
// The last two are the same by schemas of files: the pass then collects which events need one.
enum class TraceUse : u8 { lines, counts, lines_by_files, counts_by_files };

// Nothing, and a report, if the file cannot be read.
std::optional<TraceInput> open_trace(const TraceInputOptions& options, TraceUse use,
                                     Report& report);
// The same for other files than those in the options.
std::optional<TraceInput> open_trace(const std::vector<std::string>& paths,
                                     const TraceInputOptions& options, TraceUse use,
                                     Report& report);

// Whether the trace is from one boot of one machine; if not, `report` says that answers about
// threads and processors need that.
bool check_one_run(const TraceInput& input, Report& report);

// The names of --syscall-map for the numbers in .ctrace files; nothing, and a report, on failure.
std::optional<SystemCallNames> read_trace_call_names(const std::string& path, TraceInput& input,
                                                     Report& report);

// The object of the trace's header: session, machine, clock and loss.
void write_session(JsonWriter& json, const tracefile::AnyTrace& trace);
// The same for one of several files.
void write_session(JsonWriter& json, const tracefile::AnyTrace& trace, std::size_t file);
void write_session(JsonWriter& json, const tracefile::Ctrace& trace,
                   const tracefile::CtracePart& part);
void write_session(JsonWriter& json, const tracefile::Trace& trace,
                   const tracefile::ScannedFile& file);

}  // namespace coldtrace::cli
