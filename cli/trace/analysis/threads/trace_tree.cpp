#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/drawing/thread_graph_drawing.hpp"
#include "cli/trace/status.hpp"
#include "cli/trace/trace_commands.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Index;
using trace_analysis::Lifetime;
using trace_analysis::nobody;
using trace_analysis::ProcessTree;

struct TraceTreeOptions : AnalysisOptions {
  u64 threads = 8;  // of a process, in text
  u64 nodes = 500;  // of a drawing
};

constexpr unsigned deepest_indentation = 32;

// One answer, in the formats that it can be had in.
class TreeWriter {
 public:
  TreeWriter(const TraceInput& input, const trace_analysis::Observation& observation,
             SymbolNames& symbols, const TraceTreeOptions& options, Output& output)
      : input_{input},
        observation_{observation},
        symbols_{symbols},
        options_{options},
        output_{output},
        population_{observation.population()},
        names_{input.trace, observation.observed(), symbols} {}

  void write() {
    if (options_.format == "json") return write_json();
    const ProcessTree tree{population_};
    if (options_.format == "text") {
      write_text(tree);
      return symbols_.write_text(output_);
    }
    const trace_analysis::ThreadGraph graph{tree, options_.nodes};
    const ThreadGraphLabels labels{graph, population_, names_};
    if (options_.format == "dot")
      write_dot(output_, graph, labels);
    else
      write_svg(output_, graph, labels);
  }

 private:
  // --- JSON

  void write_life(JsonWriter& json, const Lifetime& life) const {
    json.field("start", names_.times().utc(life.start)).field("end", names_.times().utc(life.end));
    json.key("start_event");
    write_place(json, life.started_at);
    json.key("end_event");
    write_place(json, life.ended_at);
  }

  void write_process(JsonWriter& json, Index index, const ProcessTree& tree) const {
    const auto& process = population_.processes()[index];
    json.begin_object()
        .field("id", index)
        .field("pid", process.pid)
        .field("image_name", ExactText{text_or_null(process.image_name)})
        .field("command_line", ExactText{text_or_null(process.command_line)});
    write_life(json, process.life);
    json.key("exit_status");
    write_exit_status(json, process.exit_status);
    json.field("parent", number_or_null(tree.parent_of(index)))
        .field("stated_parent_pid", process.stated_parent)
        .field("creator_thread", number_or_null(process.creator))
        .field("threads", u64{tree.threads_of(index).size()})
        .end_object();
  }

  void write_thread(JsonWriter& json, Index index) const {
    const auto& thread = population_.threads()[index];
    std::optional<std::string> address;
    if (thread.start_address != 0) address = fmt::format("{:#x}", thread.start_address);
    json.begin_object()
        .field("id", index)
        .field("tid", thread.tid)
        .field("process", number_or_null(thread.process))
        .field("name", ExactText{text_or_null(thread.name)});
    write_life(json, thread.life);
    json.key("exit_status");
    write_exit_status(json, thread.exit_status);
    json.field("creator_thread", number_or_null(thread.creator))
        .field("start_address", address)
        .field("function", ExactText{text_or_null(names_.start_function(index))})
        .field("idle_cpu", thread.idle_of)
        .end_object();
  }

  void write_json() {
    const ProcessTree tree{population_};
    JsonWriter json{output_, options_.int64};
    json.begin_object().field("schema", "coldtrace.trace-tree/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    json.field("reused_ids", population_.reused_ids()).key("processes").begin_array();
    for (Index i = 0; i < population_.processes().size(); ++i) write_process(json, i, tree);
    json.end_array().key("threads").begin_array();
    for (Index i = 0; i < population_.threads().size(); ++i) write_thread(json, i);
    json.end_array();
    symbols_.write(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  // --- text

  std::string life_text(const Lifetime& life) const {
    if (!life.start && !life.end) return {};
    return fmt::format("  {} to {}", life.start ? names_.since_start(*life.start) : "before",
                       life.end ? names_.since_start(*life.end) : "after");
  }

  std::string creator_text(Index creator, Index own_process) const {
    if (creator == nobody) return {};
    const auto& thread = population_.threads()[creator];
    if (thread.process == nobody || thread.process == own_process)
      return fmt::format("  by thread {}", thread.tid);
    return fmt::format("  by thread {} of {}", thread.tid, names_.process(thread.process));
  }

  void write_thread_line(Index index, std::size_t indentation) {
    const auto& thread = population_.threads()[index];
    if (thread.idle_of) {
      print(output_, "{:{}}idle thread of processor {}\n", "", indentation, *thread.idle_of);
      return;
    }
    auto function = printable(names_.start_function(index));
    if (function.empty() && thread.start_address != 0)
      function = fmt::format("{:#x}", thread.start_address);
    print(output_, "{:{}}thread {}{}{}{}{}{}\n", "", indentation, thread.tid,
          thread.name.empty() ? "" : " \"" + printable(thread.name) + "\"",
          function.empty() ? "" : "  " + function, life_text(thread.life),
          creator_text(thread.creator, thread.process),
          thread.exit_status ? "  exit " + exit_status_text(*thread.exit_status) : std::string{});
  }

  void write_process_lines(Index index, const ProcessTree& tree, unsigned depth) {
    const auto& process = population_.processes()[index];
    const std::size_t indentation = 2 * std::size_t{std::min(depth, deepest_indentation)};
    print(output_, "{:{}}{}{}{}", "", indentation, names_.process(index), life_text(process.life),
          creator_text(process.creator, nobody));
    if (tree.has_other_parent(index)) print(output_, "  stated parent {}", *process.stated_parent);
    if (process.exit_status && process.life.end)
      print(output_, "  exit {}", exit_status_text(*process.exit_status));
    if (!process.command_line.empty()) print(output_, "  {}", printable(process.command_line));
    output_.write("\n");
    write_threads(tree.threads_of(index), indentation + 4);
  }

  void write_threads(std::span<const Index> threads, std::size_t indentation) {
    const auto shown = std::min<std::size_t>(threads.size(), options_.threads);
    for (const auto thread : threads.first(shown)) write_thread_line(thread, indentation);
    if (shown < threads.size())
      print(output_, "{:{}}{}\n", "", indentation,
            counted(threads.size() - shown, shown == 0 ? "thread" : "more thread",
                    shown == 0 ? "threads" : "more threads"));
  }

  void write_text(const ProcessTree& tree) {
    print(output_, "Processes     {}\nThreads       {}\nReused ids    {}\n\n",
          grouped(population_.processes().size()), grouped(population_.threads().size()),
          grouped(population_.reused_ids()));
    struct Step {
      Index process;
      unsigned depth;
    };
    std::vector<Step> open;
    const auto push = [&](std::span<const Index> processes, unsigned depth) {
      for (std::size_t i = processes.size(); i > 0; --i) open.push_back({processes[i - 1], depth});
    };
    push(tree.roots(), 0);
    while (!open.empty()) {
      const auto [process, depth] = open.back();
      open.pop_back();
      write_process_lines(process, tree, depth);
      push(tree.children_of(process), depth + 1);
    }
    if (tree.stray_threads().empty()) return;
    output_.write("of unknown processes\n");
    write_threads(tree.stray_threads(), 4);
  }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const SymbolNames& symbols_;
  const TraceTreeOptions& options_;
  Output& output_;
  const trace_analysis::Population& population_;
  ThreadNames names_;
};

Exit run_trace_tree(const TraceTreeOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  run.observe({});
  const auto& population = run.observation().population();
  if (population.threads().empty() && population.processes().empty())
    run.note_no_match("no event of the trace shows processes or threads", {Need::processes});
  Output output{options.output};
  TreeWriter{run.input(), run.observation(), run.symbols(), options, output}.write();
  return run.finish(output);
}

}  // namespace

void add_trace_tree(CLI::App& app, Exit& exit) {
  add_command<TraceTreeOptions>(
      app, exit,
      {"tree", "Show the processes and threads of a trace, and who started them",
       "  coldtrace trace tree run.etl\n"
       "  coldtrace trace tree run.etl --format json -o tree.json\n"
       "  coldtrace trace tree boot.ctrace --format svg -o boot.svg\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, or shows no process; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "dot", "svg"},
      [](Command& command, TraceTreeOptions& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
        command.add_option("--max-threads", options.threads, "In text: threads to show per process")
            .for_formats({"text"})
            .capture_default_str();
        command.add_option("--nodes", options.nodes, "In drawings: nodes to show")
            .for_formats({"dot", "svg"})
            .capture_default_str();
      },
      run_trace_tree);
}

}  // namespace coldtrace::cli
