#include "cli/trace/export/export_input.hpp"

#include <vector>

#include "cli/trace/analysis/switch_findings.hpp"
#include "cli/trace/trace_where.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {

void add_export_options(Command& command, ExportOptions& options) {
  add_trace_input_options(command, options);
  add_selection_options(command, options.times, options.where);
  add_symbol_options(command, options.symbols);
  command.add_input(
      "--syscall-map", options.syscall_map,
      "Name system calls of a .ctrace file from ntdll.dll or the JSON of 'syscalls map'");
}

ExportRun::ExportRun(ExportOptions options) : options_{std::move(options)} {
  if (options_.where) {
    options_.times.where = read_where("--where", *options_.where);
    is_ready_ = options_.times.where.has_value();
    if (!is_ready_) return;
  }
  run_.emplace(options_, TraceUse::lines);
  if (!run_->opened() || options_.syscall_map.empty()) return;
  calls_ = read_trace_call_names(options_.syscall_map, run_->input(), run_->report());
  is_ready_ = calls_.has_value();
}

void ExportRun::observe(trace_export::Timeline& timeline,
                        std::initializer_list<trace_analysis::Analysis*> others) {
  std::vector<trace_analysis::Analysis*> all{&timeline};
  all.insert(all.end(), others.begin(), others.end());
  run_->observe(all, nullptr, &timeline);
  auto& findings = run_->findings();
  note_ready_events(timeline.turns().counts(), *run_);
  trace_analysis::note_overlaps(timeline.turns().counts(), findings);
  trace_analysis::note_services(timeline.services(), findings);
  trace_analysis::note_disk_requests(timeline.disks().counts(), findings);
  trace_analysis::note_file_requests(timeline.file_operations(), findings);
  const auto unmatched = timeline.unmatched();
  if (unmatched) unmatched->report(findings);
  if (timeline.shown() == 0 && (!unmatched || unmatched->empty()))
    run_->note_no_match(
        "the trace has none of what is exported: no context switches, calls, interrupts, requests "
        "or regions",
        {Need::switches, Need::calls, Need::interrupts, Need::disk_requests,
         Need::file_operations});
}

}  // namespace coldtrace::cli
