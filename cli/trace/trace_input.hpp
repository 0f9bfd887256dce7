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
  // No option: of `files`, what pipes have handed out already.
  std::map<std::string, std::shared_ptr<const core::ImageSource>> piped;
  unsigned jobs = 1;
  unsigned pointer_size = 0;
  bool force = false;
  std::optional<u64> unpacked_limit;
  u64 names_limit = u64{512} << 20;
  // No option: what the command reads, of which a file of another kind is said to be none.
  std::string wanted = "an .etl or .ctrace file";
  // No option: which events the command will want, as far as their headers tell.
  const tracefile::EventSieve* sieve = nullptr;
};

void add_trace_input_options(Command& command, TraceInputOptions& options);
// Without the argument that names the trace.
void add_trace_reading_options(Command& command, TraceInputOptions& options);

// What is wrong with the text of a time; empty: nothing.
std::string check_time(const std::string& text);

// --from and --to.
void add_time_options(Command& command, tracefile::EventSelection& selection,
                      const std::string& from = "Only events at this time (UTC) or later",
                      const std::string& to = "Only events at this time (UTC) or earlier");

// The same with all else that chooses events: providers, events, processes, threads, --where.
// --provider and --event; --where.
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

  // Of reading all events once more.
  core::Progress* begin_progress(const std::string& what);

  bool has_several_files() const { return trace.files().size() > 1; }
  // Says what was found, of several files under the name of each.
  void tell(Report& report) const;
};

// What the first pass over a trace is for: lines with names, or the number of events by kind.
// The last two are for lines or numbers by schemas of files: it gathers which events need one.
enum class TraceUse : u8 { lines, counts, lines_by_files, counts_by_files };

// Nothing when the file cannot be read, which `report` then says.
std::optional<TraceInput> open_trace(const TraceInputOptions& options, TraceUse use,
                                     Report& report);
// The same of other files than those of the options.
std::optional<TraceInput> open_trace(const std::vector<std::string>& paths,
                                     const TraceInputOptions& options, TraceUse use,
                                     Report& report);

// Whether the trace is of one run of one machine; else `report` says that what is told of threads
// and processors needs that.
bool check_one_run(const TraceInput& input, Report& report);

// The names of --syscall-map, which .ctrace files have the numbers of; nothing when `report` says
// why not.
std::optional<SystemCallNames> read_trace_call_names(const std::string& path, TraceInput& input,
                                                     Report& report);

// The object of the trace's header: session, machine, clock and loss.
void write_session(JsonWriter& json, const tracefile::AnyTrace& trace);
// That of one file of several.
void write_session(JsonWriter& json, const tracefile::AnyTrace& trace, std::size_t file);
void write_session(JsonWriter& json, const tracefile::Ctrace& trace,
                   const tracefile::CtracePart& part);
void write_session(JsonWriter& json, const tracefile::Trace& trace,
                   const tracefile::ScannedFile& file);

}  // namespace coldtrace::cli
