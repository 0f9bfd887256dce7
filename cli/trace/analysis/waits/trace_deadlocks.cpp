#include "cli/command/version.hpp"
#include "cli/trace/analysis/waits/deadlock_text.hpp"
#include "cli/trace/status.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Deadlocks;
using trace_analysis::LockOrder;
using trace_analysis::nobody;

using TraceDeadlocksOptions = AnalysisOptions;

class DeadlockWriter {
 public:
  DeadlockWriter(const TraceInput& input, const trace_analysis::Observed& observed,
                 SymbolNames& symbols, const Deadlocks& answer,
                 const TraceDeadlocksOptions& options, Output& output)
      : input_{input},
        observed_{observed},
        symbols_{symbols},
        answer_{answer},
        options_{options},
        output_{output},
        names_{input.trace, observed, symbols, answer.objects()} {}

  void write() {
    if (options_.format == "json")
      write_json();
    else
      write_deadlock_text(output_, answer_, names_, observed_);
  }

 private:
  // --- JSON

  void write_member(JsonWriter& json, const Deadlocks::Member& member) const {
    json.begin_object().field("thread", member.place.thread);
    names_.write_moment(json, "since", "event", member.since);
    json.field("left_processor", member.left_processor).key("waits_for").begin_array();
    for (const auto& step : member.place.steps) {
      const bool owned = answer_.objects().all()[step.object].thread == nobody;
      json.begin_object().field("object", step.object).field("owner", step.owner);
      names_.write_moment(json, "owned_since", "owned_event",
                          owned ? std::optional{step.owned_since} : std::nullopt);
      json.end_object();
    }
    json.end_array().end_object();
  }

  void write_end(JsonWriter& json, const std::optional<Deadlocks::End>& end) const {
    json.key("end");
    if (!end) {
      json.value(nullptr);
      return;
    }
    json.begin_object();
    names_.write_moment(json, "time", "event", end->moment);
    json.field("thread", end->thread).key("status");
    write_nt_status(json, end->status);
    json.field("by", number_or_null(end->by)).end_object();
  }

  void write_deadlock(JsonWriter& json, const Deadlocks::Deadlock& one) const {
    json.begin_object().field("shape", one.cycle ? "cycle" : "knot").field("proved", one.proved());
    names_.write_moment(json, "closed", "closed_event", one.closed);
    json.field("duration", names_.duration(length_of(one, observed_)))
        .field("events_missing", one.events_missing);
    write_end(json, one.end);
    json.key("members").begin_array();
    for (const auto& member : one.members) write_member(json, member);
    json.end_array().key("victims").begin_array();
    for (const auto& victim : one.victims) {
      json.begin_object()
          .field("thread", victim.place.thread)
          .field("object", victim.place.object)
          .field("behind", victim.place.behind);
      names_.write_moment(json, "since", "event", victim.since);
      json.end_object();
    }
    json.end_array().end_object();
  }

  void write_inversion(JsonWriter& json, const LockOrder::Inversion& one) const {
    json.begin_object()
        .field("strength", "upper_bound")
        .field("deadlocked", answer_.is_deadlocked(one))
        .key("witnesses")
        .begin_array();
    for (const auto& witness : one.witnesses) {
      json.begin_object()
          .field("thread", witness.thread)
          .field("held", witness.held)
          .field("taken", witness.taken);
      names_.write_moment(json, "held_since", "held_event", witness.held_since);
      names_.write_moment(json, "taken_at", "taken_event", witness.taken_at);
      json.end_object();
    }
    json.end_array().end_object();
  }

  void write_nodes(JsonWriter& json) const {
    std::vector<bool> threads(observed_.population.threads().size());
    std::vector<bool> objects(answer_.objects().all().size());
    for (const auto& one : answer_.deadlocks()) {
      for (const auto& member : one.members) {
        threads[member.place.thread] = true;
        for (const auto& step : member.place.steps)
          objects[step.object] = threads[step.owner] = true;
      }
      for (const auto& victim : one.victims)
        objects[victim.place.object] = threads[victim.place.thread] = true;
      if (one.end && one.end->by != nobody) threads[one.end->by] = true;
    }
    for (const auto& one : answer_.inversions())
      for (const auto& witness : one.witnesses)
        threads[witness.thread] = objects[witness.held] = objects[witness.taken] = true;
    for (const auto& suspect : answer_.suspects()) threads[suspect.thread] = true;
    names_.write_nodes(json, threads, objects);
  }

  void write_json() const {
    JsonWriter json{output_, options_.int64};
    json.begin_object().field("schema", "coldtrace.trace-deadlocks/1").field("tool", tool_version);
    write_observed(json, input_.trace, observed_);
    json.field("names_objects", answer_.names_objects()).field("passing", answer_.passing());
    write_nodes(json);
    json.key("deadlocks").begin_array();
    for (const auto& one : answer_.deadlocks()) write_deadlock(json, one);
    json.end_array().key("inversions").begin_array();
    for (const auto& one : answer_.inversions()) write_inversion(json, one);
    json.end_array().key("suspects").begin_array();
    for (const auto& suspect : answer_.suspects()) {
      std::optional<std::string> reason;
      if (suspect.reason) reason = wait_reason_text(*suspect.reason);
      json.begin_object().field("thread", suspect.thread).field("reason", reason);
      names_.write_moment(json, "since", "event", suspect.since);
      json.end_object();
    }
    json.end_array();
    symbols_.write(json);
    json.key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  const TraceInput& input_;
  const trace_analysis::Observed& observed_;
  const SymbolNames& symbols_;
  const Deadlocks& answer_;
  const TraceDeadlocksOptions& options_;
  Output& output_;
  WaitNames names_;
};

Exit run_trace_deadlocks(const TraceDeadlocksOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  Deadlocks answer;
  run.observe({&answer});
  if (!answer.names_objects() && !answer.any_switch())
    run.note_no_match("no event of the trace shows waits", {Need::switches, Need::readied});
  note_deadlocks(answer, run.findings());
  Output output{options.output};
  DeadlockWriter{run.input(), run.observation().observed(), run.symbols(), answer, options, output}
      .write();
  return run.finish(output);
}

}  // namespace

void add_trace_deadlocks(CLI::App& app, Exit& exit) {
  add_command<TraceDeadlocksOptions>(
      app, exit,
      {"deadlocks",
       "Show threads that wait for each other, when and for how long, and lock orders that could "
       "deadlock",
       "  coldtrace trace deadlocks run.ctrace\n"
       "  coldtrace trace deadlocks run.ctrace --format json\n",
       "  0  the whole trace was read, whether it has deadlocks or not\n"
       "  1  the trace has damage or loss, or shows no wait; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json"},
      [](Command& command, TraceDeadlocksOptions& options) {
        add_analysis_options(command, options);
        add_symbol_options(command, options.symbols);
      },
      run_trace_deadlocks);
}

}  // namespace coldtrace::cli
