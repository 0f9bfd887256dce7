#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/analysis/threads/critical_path_drawing.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/wait_findings.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "coldtrace/trace_analysis/waits/path_window.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CriticalPath;
using trace_analysis::Hop;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::PathWindow;

struct TraceCriticalPathOptions : AnalysisOptions {
  u32 thread = 0;
  u64 hops = 200;  // in text
};

i64 length_of(const Hop& hop) {
  return trace_analysis::ticks_between(hop.from, hop.to);
}

// Ticks that each of something takes of a path, the most first.
template <class Key, class Project>
std::vector<std::pair<i64, Key>> sums_by(std::span<const Hop> hops, Project project) {
  std::map<Key, i64> sums;
  for (const auto& hop : hops)
    trace_analysis::add_ticks(sums[std::invoke(project, hop)], length_of(hop));
  std::vector<std::pair<i64, Key>> most;
  for (const auto& [key, sum] : sums) most.emplace_back(sum, key);
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return most;
}

class PathWriter {
 public:
  PathWriter(const TraceInput& input, const trace_analysis::Observed& observed,
             SymbolNames& symbols, std::span<const Hop> hops, const PathWindow& window,
             const TraceCriticalPathOptions& options, Output& output)
      : input_{input},
        observed_{observed},
        symbols_{symbols},
        hops_{hops},
        window_{window},
        options_{options},
        output_{output},
        names_{input.trace, observed, symbols} {}

  void write() {
    if (options_.format == "json")
      write_json();
    else if (options_.format == "svg")
      write_svg(output_, window_.thread, hops_, names_);
    else if (window_.thread != nobody)
      write_text();
  }

 private:
  i64 length() const { return trace_analysis::ticks_between(*window_.from, *window_.to); }

  // --- JSON

  void write_json() {
    JsonWriter json{output_, options_.int64};
    json.begin_object()
        .field("schema", "coldtrace.trace-critical-path/1")
        .field("tool", tool_version);
    write_observed(json, input_.trace, observed_);
    json.field("from", names_.times().utc(window_.from))
        .field("to", names_.times().utc(window_.to))
        .field("duration", window_.from ? std::optional{names_.duration(length())} : std::nullopt)
        .field("thread", number_or_null(window_.thread))
        .key("threads")
        .begin_array();
    for (const auto thread : threads()) names_.write_thread(json, thread);
    json.end_array().key("kinds").begin_array();
    for (const auto& [sum, kind] : sums_by<Hop::Kind>(hops_, &Hop::kind))
      json.object("kind", to_string(kind), "duration", names_.duration(sum));
    json.end_array().key("hops").begin_array();
    for (const auto& hop : hops_) write_hop(json, hop);
    json.end_array();
    symbols_.write(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_hop(JsonWriter& json, const Hop& hop) const {
    std::optional<std::string> reason, routine;
    if (hop.wait_reason) reason = wait_reason_text(*hop.wait_reason);
    if (hop.interrupter) routine = names_.code(std::nullopt, hop.interrupter->number, hop.to);
    json.begin_object()
        .field("thread", hop.thread)
        .field("kind", to_string(hop.kind))
        .field("from", names_.times().utc(hop.from))
        .field("to", names_.times().utc(hop.to))
        .field("duration", names_.duration(length_of(hop)))
        .field("depth", hop.depth)
        .field("cpu", hop.cpu)
        .field("wait_reason", reason)
        .field("routine", ExactText{routine})
        .field("ended_by", to_string(hop.end))
        .key("event");
    write_place(json, hop.event);
    json.end_object();
  }

  std::vector<Index> threads() const {
    std::vector<Index> all;
    if (window_.thread != nobody) all.push_back(window_.thread);
    for (const auto& hop : hops_) all.push_back(hop.thread);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // --- text

  double share(i64 ticks) const {
    return length() > 0 ? 100.0 * static_cast<double>(ticks) / static_cast<double>(length()) : 0;
  }

  std::string what(const Hop& hop) const {
    switch (hop.kind) {
      case Hop::Kind::running:
        return fmt::format("runs on processor {}", *hop.cpu);
      case Hop::Kind::ready:
        return "is ready";
      case Hop::Kind::preempted:
        return "is ready, pushed off the processor";
      case Hop::Kind::interrupt:
        return fmt::format(
            "waits{} for {}", reason(hop),
            hop.interrupter ? printable(names_.code(std::nullopt, hop.interrupter->number, hop.to))
                            : "an interrupt");
      case Hop::Kind::waiting:
        return fmt::format("waits{}; nothing shows what ended the wait", reason(hop));
      case Hop::Kind::off:
        return "waits or is ready";
      case Hop::Kind::swapped:
        return "is swapped out";
      case Hop::Kind::unknown:
        return "is in an unknown state";
    }
    return {};
  }

  static std::string reason(const Hop& hop) {
    return hop.wait_reason ? fmt::format(" ({})", wait_reason_text(*hop.wait_reason)) : "";
  }

  static std::string end_text(const Hop& hop) {
    if (!hop.event) return {};
    return fmt::format("  [{} at {:#x}+{:#x}]", to_string(hop.end), hop.event->buffer,
                       hop.event->offset);
  }

  void write_text() {
    print(output_, "Critical path of {}\nFrom {} to {}, {}\n\n", names_.thread(window_.thread),
          names_.since_start(*window_.from), names_.since_start(*window_.to),
          names_.duration_text(length()));
    for (const auto& [sum, kind] : sums_by<Hop::Kind>(hops_, &Hop::kind))
      print(output_, "{:>6.1f} % {:>12}  {}\n", share(sum), names_.times().text(sum),
            to_string(kind));
    output_.write("\n");
    constexpr std::size_t most_threads = 20;
    const auto by_thread = sums_by<Index>(hops_, &Hop::thread);
    for (std::size_t i = 0; i < std::min(by_thread.size(), most_threads); ++i)
      print(output_, "{:>6.1f} % {:>12}  {}\n", share(by_thread[i].first),
            names_.times().text(by_thread[i].first), names_.thread(by_thread[i].second));
    if (by_thread.size() > most_threads)
      print(output_, "  and {}\n",
            counted(by_thread.size() - most_threads, "other thread", "other threads"));
    output_.write("\n");
    for (std::size_t i = 0; i < std::min<u64>(hops_.size(), options_.hops); ++i) {
      const auto& hop = hops_[i];
      print(output_, "{:>12} {:>12}  {:{}}{} {}{}\n", names_.since_start(hop.from),
            names_.times().text(length_of(hop)), "", 2 * std::min(hop.depth, 16U),
            names_.thread(hop.thread), what(hop), end_text(hop));
    }
    if (hops_.size() > options_.hops)
      print(output_, "and {} more (--hops)\n", grouped(hops_.size() - options_.hops));
    symbols_.write_text(output_);
  }

  const TraceInput& input_;
  const trace_analysis::Observed& observed_;
  const SymbolNames& symbols_;
  std::span<const Hop> hops_;
  const PathWindow& window_;
  const TraceCriticalPathOptions& options_;
  Output& output_;
  ThreadNames names_;
};

// Says which threads had the id, where several did.
void note_candidates(const PathWindow& window, const ThreadNames& names,
                     const TraceCriticalPathOptions& options, AnalysisRun& run) {
  const auto& all = run.observation().observed().population.threads();
  const auto& candidates = window.candidates;
  constexpr std::size_t most_starts = 5;
  std::string starts;
  for (std::size_t i = 0; i < std::min(candidates.size(), most_starts); ++i)
    starts +=
        fmt::format("{}{}", starts.empty() ? "" : ", ",
                    names.times().utc(all[candidates[i]].life.start).value_or("before the trace"));
  if (candidates.size() > most_starts) starts += ", ...";
  run.report().failed(
      options.files.front(),
      fmt::format("{} threads had the id {}, started at {}; choose one with --from and --to",
                  candidates.size(), options.thread, starts));
}

Exit run(const TraceCriticalPathOptions& options) {
  // What a thread did before the window says where it is when that begins.
  AnalysisOptions reading = options;
  reading.times.from.reset();
  AnalysisRun run{reading, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  tracefile::StreamOptions limits;
  tracefile::limit_to_times(options.times, run.input().trace.clock(), limits);
  CriticalPath path{limits.first.value_or(std::numeric_limits<i64>::min())};
  run.observe({&path});
  const auto& observed = run.observation().observed();
  const ThreadNames names{run.input().trace, observed, run.symbols()};
  const auto window = find_path_window(observed, limits.first, options.thread, run.findings());
  if (window.candidates.size() > 1) {
    note_candidates(window, names, options, run);
    return Exit::failure;
  }
  const auto hops = window.thread == nobody ? std::vector<Hop>{}
                                            : path.find(window.thread, *window.from, *window.to);
  note_switches(path.turns().counts(), run);
  trace_analysis::note_critical_path(path, hops, names.times(), run.findings());
  Output output{options.output};
  PathWriter{run.input(), observed, run.symbols(), hops, window, options, output}.write();
  return run.finish(output);
}

}  // namespace

void add_trace_critical_path(CLI::App& app, Exit& exit) {
  add_command<TraceCriticalPathOptions>(
      app, exit,
      {"critical-path", "Show what delayed a thread in an interval, hop by hop",
       "  coldtrace trace critical-path run.etl --thread 4711\n"
       "  coldtrace trace critical-path run.etl --thread 4711 --from 2026-01-02T03:04:05Z \\\n"
       "      --to 2026-01-02T03:04:06Z --format svg -o path.svg\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, no context switches, no such thread in the interval,\n"
       "     or more turns on processors than are kept; the rest was written\n"
       "  2  not a trace, or it cannot be read or written, or several threads had the id\n"},
      {"text", "json", "svg"},
      [](Command& command, TraceCriticalPathOptions& options) {
        add_trace_input_options(command, options);
        add_time_options(command, options.times, "Earliest start of the path (UTC)",
                         "Latest end of the path (UTC)");
        add_symbol_options(command, options.symbols);
        command.add_option("--thread", options.thread, "Thread to analyse, by id")
            .type_name("TID")
            .required();
        command.add_option("--hops", options.hops, "In text: hops to show")
            .for_formats({"text"})
            .capture_default_str();
      },
      run);
}

}  // namespace coldtrace::cli
