#include "cli/trace/analysis/processors/stack_run.hpp"

#include <algorithm>

#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/processes/process_choice.hpp"
#include "coldtrace/trace_export/export_findings.hpp"

namespace coldtrace::cli {
namespace {

// What the trace lacks.
void note_missing(AnalysisRun& run, const std::string& stacks) {
  if (stacks == "running") return run.note_no_match("the trace has no samples", {Need::samples});
  if (stacks == "waiting")
    return run.note_no_match("the trace has no context switches", {Need::switches});
  run.note_no_match("the trace has no requests to disks", {Need::disk_requests});
}

}  // namespace

StackRun::StackRun(StackOptions options, trace_analysis::RunningStacks::Sink each)
    : options_{std::move(options)} {
  if (options_.where) {
    options_.times.where = read_where("--where", *options_.where);
    is_ready_ = options_.times.where.has_value();
    if (!is_ready_) return;
  }
  const bool of_events = options_.stacks == "events";
  if (!of_events && (options_.times.by_kind() || options_.times.where || options_.weight))
    throw Failure{"--event, --provider, --where and --weight are for --of events"};
  run_.emplace(options_, TraceUse::lines);
  if (!run_->opened()) return;
  const auto& trace = run_->input().trace;
  code_.emplace(trace.names(), run_->symbols());
  if (options_.stacks == "running")
    running_.emplace(trace.clock(), trace.names().sampling_intervals(), *code_, std::move(each));
  else if (options_.stacks == "waiting")
    waiting_.emplace(trace_analysis::CounterTicks{trace}, trace.names(), *code_);
  else if (options_.stacks == "disk")
    disk_.emplace(trace_analysis::CounterTicks{trace}, *code_);
  else
    events_.emplace(trace, options_.times, options_.weight, *code_);
  observe();
}

void StackRun::observe() {
  trace_analysis::Analysis* analysis = running_ ? &*running_ : nullptr;
  if (waiting_) analysis = &*waiting_;
  if (disk_) analysis = &*disk_;
  if (events_) analysis = &*events_;
  run_->observe({&analysis, 1}, nullptr, events_ ? &*events_ : nullptr);
  auto& findings = run_->findings();
  if (!events_) {
    if (tree().nodes().size() == 1) note_missing(*run_, options_.stacks);
  } else {
    const auto unmatched = events_->unmatched();
    unmatched.report(findings);
    if (tree().nodes().size() == 1 && unmatched.empty())
      run_->note_no_match("no event of the trace matches what was asked for");
    if (options_.weight) trace_export::note_weights(*events_, *options_.weight, findings);
  }
  if (waiting_) note_overlaps(waiting_->turns().counts(), findings);
}

const trace_analysis::CallTree& StackRun::tree() const {
  if (running_) return running_->tree();
  if (waiting_) return waiting_->tree();
  return disk_ ? disk_->tree() : events_->tree();
}

const trace_analysis::StackJoin& StackRun::joined() const {
  if (running_) return running_->stacks();
  if (waiting_) return waiting_->stacks();
  return disk_ ? disk_->stacks() : events_->stacks();
}

CollapsedContext StackRun::context() {
  const auto& observation = run_->observation();
  const auto& observed = observation.observed();
  CollapsedContext context{observation.population(),
                           *code_,
                           TraceTimes{run_->input().trace.clock(), observed.first},
                           {},
                           observed.events,
                           !events_};
  if (waiting_) context.files = &waiting_->files();
  if (!options_.processes.empty())
    context.processes = trace_analysis::find_processes(observation.population(), options_.processes,
                                                       run_->findings());
  return context;
}

void StackRun::note(u64 unwritten) {
  trace_analysis::note_stacks(tree().cut() + joined().cut() + unwritten, run_->findings());
  trace_analysis::note_functions(code_->left_out(), run_->findings());
}

Exit run_collapsed(const StackOptions& options) {
  StackRun stacks{options};
  if (!stacks.opened()) return Exit::failure;
  Output output{options.output};
  stacks.note(write_collapsed(output, stacks.tree(), stacks.context()));
  return stacks.run().finish(output);
}

}  // namespace coldtrace::cli
