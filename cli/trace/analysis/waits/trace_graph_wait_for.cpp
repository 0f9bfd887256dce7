#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/waits/wait_graph_drawing.hpp"
#include "cli/trace/trace_commands.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Index;
using trace_analysis::LockOwners;
using trace_analysis::nobody;
using trace_analysis::ObjectIndex;
using trace_analysis::RequestWaits;
using trace_analysis::StatedWaits;
using trace_analysis::WaitEvidence;
using trace_analysis::WaitGraph;
using trace_analysis::WaitGraphView;

struct Options : AnalysisOptions {
  std::string process;
  u64 nodes = 500;
};

std::string_view to_string(WaitGraph::Strength strength) {
  switch (strength) {
    case WaitGraph::Strength::exact:
      return "exact";
    case WaitGraph::Strength::proved:
      return "proved";
    case WaitGraph::Strength::upper_bound:
      return "upper_bound";
  }
  return {};
}

class WaitGraphWriter {
 public:
  WaitGraphWriter(const TraceInput& input, const trace_analysis::Observed& observed,
                  SymbolNames& symbols, const WaitEvidence& evidence, const WaitGraphView& view,
                  const Options& options, Output& output)
      : input_{input},
        observed_{observed},
        symbols_{symbols},
        evidence_{evidence},
        graph_{evidence.graph},
        view_{view},
        options_{options},
        output_{output},
        names_{input.trace, observed, symbols, evidence.graph.objects()} {}

  void write() {
    const WaitGraphLabels labels{evidence_, observed_.population, names_};
    if (options_.format == "json")
      write_json();
    else if (options_.format == "text")
      write_text();
    else if (options_.format == "dot")
      write_dot(output_, view_, labels);
    else
      write_svg(output_, view_, labels);
  }

 private:
  // --- JSON

  std::optional<std::string> reason_or_null(std::optional<u8> reason) const {
    if (!reason) return std::nullopt;
    return wait_reason_text(*reason);
  }

  void write_wait(JsonWriter& json, const WaitGraph::Edge& edge) const {
    const bool measured = edge.measured > 0;
    json.begin_object()
        .field("thread", edge.thread)
        .field("object", edge.object)
        .field("strength", to_string(WaitGraph::Strength::exact))
        .field("reason", reason_or_null(edge.reason))
        .field("count", edge.count)
        .field("open", edge.open)
        .field("unknown", edge.unknown)
        .field("time", names_.duration(edge.total))
        .field("longest", measured ? std::optional{names_.duration(edge.longest)} : std::nullopt);
    names_.write_moment(json, "longest_since", "longest_event",
                        measured ? std::optional{edge.longest_since} : std::nullopt);
    names_.write_moment(json, "open_since", "open_event", edge.open_since);
    json.end_object();
  }

  void write_owner(JsonWriter& json, const WaitGraph::Owner& owner) const {
    json.begin_object()
        .field("object", owner.object)
        .field("thread", owner.thread)
        .field("strength", to_string(owner.strength));
    names_.write_moment(json, "since", "event", owner.since);
    json.end_object();
  }

  void write_wake(JsonWriter& json, const trace_analysis::Wakes::Edge& edge) const {
    const bool measured = edge.measured > 0;
    json.begin_object()
        .field("thread", edge.thread)
        .field("waker", number_or_null(edge.waker))
        .field("interrupt", edge.in_dpc)
        .field("count", edge.count)
        .field("unknown", edge.unknown)
        .field("time", names_.duration(edge.total))
        .field("longest", measured ? std::optional{names_.duration(edge.longest)} : std::nullopt)
        .field("longest_reason", reason_or_null(edge.longest_reason));
    names_.write_moment(json, "longest_since", "longest_event",
                        measured ? std::optional{edge.longest_since} : std::nullopt);
    json.end_object();
  }

  void write_stated(JsonWriter& json, const StatedWaits::Edge& edge) const {
    json.begin_object()
        .field("kind", to_string(edge.kind))
        .field("strength", to_string(WaitGraph::Strength::exact))
        .field("thread", edge.thread)
        .field("other", edge.other)
        .field("lock",
               edge.lock != 0 ? std::optional{fmt::format("{:#x}", edge.lock)} : std::nullopt)
        .field("count", edge.count)
        .field("timed", edge.timed)
        .field("time", names_.duration(edge.time));
    names_.write_moment(json, "last", "last_event", edge.last);
    json.end_object();
  }

  void write_lock_owner(JsonWriter& json, const LockOwners::Edge& edge) const {
    json.begin_object()
        .field("lock", fmt::format("{:#x}", edge.lock))
        .field("thread", edge.owner)
        .field("strength", to_string(WaitGraph::Strength::exact))
        .field("by", number_or_null(edge.by))
        .field("count", edge.count);
    names_.write_moment(json, "last", "last_event", edge.last);
    json.end_object();
  }

  void write_request(JsonWriter& json, const RequestWaits::Edge& edge) const {
    const bool measured = edge.count > 0;
    json.begin_object()
        .field("thread", edge.thread)
        .field("disk", edge.disk)
        .field("action", to_string(edge.action))
        .field("strength", "likely")
        .field("count", edge.count)
        .field("by_interrupt", edge.by_interrupt)
        .field("time", names_.duration(edge.time))
        .field("longest", measured ? std::optional{names_.duration(edge.longest)} : std::nullopt);
    names_.write_moment(json, "longest_since", "longest_event",
                        measured ? std::optional{edge.longest_since} : std::nullopt);
    names_.write_moment(json, "open_since", "open_event", edge.open_since);
    json.end_object();
  }

  // What the edges name, in the order of their numbers.
  void write_nodes(JsonWriter& json) const {
    std::vector<bool> threads(observed_.population.threads().size());
    std::vector<bool> objects(graph_.objects().all().size());
    for (const auto wait : view_.waits()) {
      threads[graph_.edges()[wait].thread] = true;
      objects[graph_.edges()[wait].object] = true;
    }
    for (ObjectIndex i = 0; i < objects.size(); ++i)
      if (const auto thread = graph_.objects().all()[i].thread; objects[i] && thread != nobody)
        threads[thread] = true;
    for (const auto owner : view_.owners()) threads[graph_.owners()[owner].thread] = true;
    for (const auto wake : view_.wakes()) {
      const auto& edge = graph_.wakes().edges()[wake];
      threads[edge.thread] = true;
      if (edge.waker != nobody) threads[edge.waker] = true;
    }
    for (const auto number : view_.stated()) {
      const auto& edge = evidence_.stated.edges()[number];
      threads[edge.thread] = threads[edge.other] = true;
    }
    for (const auto number : view_.lock_owners()) {
      const auto& edge = evidence_.locks.edges()[number];
      threads[edge.owner] = true;
      if (edge.by != nobody) threads[edge.by] = true;
    }
    for (const auto number : view_.requests())
      threads[evidence_.requests.edges()[number].thread] = true;
    names_.write_nodes(json, threads, objects);
  }

  void write_json() const {
    JsonWriter json{output_, options_.int64};
    json.begin_object().field("schema", "coldtrace.trace-wait-graph/1").field("tool", tool_version);
    write_observed(json, input_.trace, observed_);
    json.field("names_objects", graph_.names_objects())
        .field("ends_without_begin", graph_.ends_without_begin());
    write_nodes(json);
    json.key("waits").begin_array();
    for (const auto wait : view_.waits()) write_wait(json, graph_.edges()[wait]);
    json.end_array().key("owners").begin_array();
    for (const auto owner : view_.owners()) write_owner(json, graph_.owners()[owner]);
    json.end_array().key("woken_by").begin_array();
    for (const auto wake : view_.wakes()) write_wake(json, graph_.wakes().edges()[wake]);
    json.end_array().key("stated").begin_array();
    for (const auto number : view_.stated()) write_stated(json, evidence_.stated.edges()[number]);
    json.end_array().key("lock_owners").begin_array();
    for (const auto number : view_.lock_owners())
      write_lock_owner(json, evidence_.locks.edges()[number]);
    json.end_array().key("requests").begin_array();
    for (const auto number : view_.requests())
      write_request(json, evidence_.requests.edges()[number]);
    json.end_array();
    symbols_.write(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  // --- text

  void write_text() {
    write_stated();
    write_lock_owners();
    write_requests();
    if (!graph_.names_objects()) return write_wakes();
    for (const auto wait : view_.waits()) {
      const auto& edge = graph_.edges()[wait];
      print(output_, "{} waited {}x for {}", names_.thread(edge.thread), edge.count,
            names_.object(edge.object));
      if (edge.measured > 0)
        print(output_, ", {}, longest {} since {}", names_.seconds(edge.total),
              names_.seconds(edge.longest), names_.since_start(edge.longest_since.time));
      if (edge.unknown > 0) print(output_, ", {} of unknown length", edge.unknown);
      if (edge.open_since)
        print(output_, ", still waits since {}", names_.moment(*edge.open_since));
      output_.write("\n");
    }
    for (const auto owned : view_.owners()) {
      const auto& owner = graph_.owners()[owned];
      print(output_, "{} {} {} since {}\n", names_.thread(owner.thread),
            owner.strength == WaitGraph::Strength::proved ? "owns" : "owned last",
            names_.object(owner.object), names_.moment(owner.since));
    }
  }

  void write_stated() {
    for (const auto number : view_.stated()) {
      const auto& edge = evidence_.stated.edges()[number];
      if (edge.kind == StatedWaits::Kind::reply)
        print(output_, "{} waited {}x for a reply of {}", names_.thread(edge.thread), edge.count,
              names_.thread(edge.other));
      else
        print(output_, "{} came {}x to the critical section {:#x}, which {} owned",
              names_.thread(edge.thread), edge.count, edge.lock, names_.thread(edge.other));
      if (edge.timed > 0) print(output_, ", {} in {}", names_.seconds(edge.time), edge.timed);
      print(output_, ", last {}\n", names_.moment(edge.last));
    }
  }

  void write_lock_owners() {
    for (const auto number : view_.lock_owners()) {
      const auto& edge = evidence_.locks.edges()[number];
      print(output_, "{} owned the lock {:#x}, for which its priority was raised {}x",
            names_.thread(edge.owner), edge.lock, edge.count);
      if (edge.by != nobody) print(output_, " by {}", names_.thread(edge.by));
      print(output_, ", last {}\n", names_.moment(edge.last));
    }
  }

  void write_requests() {
    for (const auto number : view_.requests()) {
      const auto& edge = evidence_.requests.edges()[number];
      const auto action = to_string(edge.action);
      if (edge.count > 0)
        print(
            output_,
            "{} likely waited {}x for its own requests to {} ({}), {}, longest {} since {}, {} of "
            "them ended right after\n",
            names_.thread(edge.thread), edge.count,
            edge.disk ? fmt::format("disk {}", *edge.disk) : "a disk", action,
            names_.seconds(edge.time), names_.seconds(edge.longest),
            names_.since_start(edge.longest_since.time), edge.by_interrupt);
      if (edge.open_since)
        print(output_, "{} still waits since {}, while its request to a disk ({}) is under way\n",
              names_.thread(edge.thread), names_.moment(*edge.open_since), action);
    }
  }

  void write_wakes() {
    for (const auto wake : view_.wakes()) {
      const auto& edge = graph_.wakes().edges()[wake];
      print(output_, "{} was woken {}x by {}, {}", names_.thread(edge.thread), edge.count,
            edge.waker != nobody ? names_.thread(edge.waker)
            : edge.in_dpc        ? "an interrupt"
                                 : "somebody unknown",
            names_.seconds(edge.total));
      if (edge.measured > 0)
        print(output_, ", longest {} since {}{}", names_.seconds(edge.longest),
              names_.since_start(edge.longest_since.time),
              edge.longest_reason ? " (" + wait_reason_text(*edge.longest_reason) + ")" : "");
      output_.write("\n");
    }
  }

  const TraceInput& input_;
  const trace_analysis::Observed& observed_;
  const SymbolNames& symbols_;
  const WaitEvidence& evidence_;
  const WaitGraph& graph_;
  const WaitGraphView& view_;
  const Options& options_;
  Output& output_;
  WaitNames names_;
};

void note_graph(const WaitEvidence& evidence, AnalysisRun& run) {
  const auto& [graph, stated, locks, requests] = evidence;
  auto& findings = run.findings();
  const auto left_out = graph.left_out() + graph.wakes().left_out() + stated.left_out() +
                        locks.left_out() + requests.left_out();
  if (left_out > 0)
    findings.warning(
        "wait-limit", std::nullopt,
        "{} waits are left out: the trace has more objects, or pairs of who waited for "
        "what, than are kept",
        left_out);
  if (graph.names_objects()) return;
  if (graph.wakes().edges().empty() && stated.edges().empty() && locks.edges().empty() &&
      requests.edges().empty())
    run.note_no_match("no event of the trace tells of waits");
  else
    findings.info("wait-unnamed", std::nullopt,
                  "the trace does not name what threads waited for, only who made them ready");
}

Exit run(const Options& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  WaitGraph graph;
  StatedWaits stated;
  LockOwners locks;
  RequestWaits requests{trace_analysis::CounterTicks{run.input().trace}};
  run.observe({&graph, &stated, &locks, &requests});
  const WaitEvidence evidence{graph, stated, locks, requests};
  note_graph(evidence, run);
  const auto& population = run.observation().population();
  std::optional<std::vector<Index>> processes;
  if (!options.process.empty())
    processes = find_processes(population, options.process, run.findings());
  const WaitGraphView view{evidence, population, processes, options.nodes};
  Output output{options.output};
  WaitGraphWriter{run.input(), run.observation().observed(), run.symbols(), evidence, view, options,
                  output}
      .write();
  return run.finish(output);
}

}  // namespace

void add_trace_graph_wait_for(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"wait-for", "Show which threads waited for which objects, and who owned them",
       "  coldtrace trace graph wait-for run.ctrace\n"
       "  coldtrace trace graph wait-for run.ctrace --process 'prod*' --format svg -o waits.svg\n"
       "  coldtrace trace graph wait-for run.etl --format json\n",
       "  0  the whole trace was read\n"
       "  1  the trace has damage or loss, or tells of no wait; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "dot", "svg"},
      [](Command& command, Options& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
        command
            .add_option("--process", options.process,
                        "Only the waits of this process: an id, a name or a glob")
            .type_name("PROCESS");
        command
            .add_option("--nodes", options.nodes, "In drawings: threads and objects that are shown")
            .capture_default_str();
      },
      run);
}

}  // namespace coldtrace::cli
