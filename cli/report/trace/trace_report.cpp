#include "cli/report/trace/trace_report.hpp"

#include <algorithm>

#include "cli/report/trace/trace_sections.hpp"
#include "cli/trace/analysis/requests/io_tables.hpp"
#include "cli/trace/analysis/switch_findings.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::BusyTime;
using trace_analysis::CounterTicks;
using trace_analysis::DiskIo;
using trace_analysis::NetworkTransfer;

// Of the timeline: more would not fit into the page in any case.
constexpr std::size_t most_slices = 1'200'000;
constexpr std::size_t most_details = 400'000;
constexpr std::size_t most_requests = 100'000;

// Units of 100 ns.
constexpr i64 millisecond = 10'000, second = 10'000'000;
constexpr i64 network_window = 100;  // milliseconds, as `trace idle` has it

// What the slider of idle times goes through: 1, 2 and 5 of each power of ten.
trace_analysis::RestPolicy rest_policy() {
  trace_analysis::RestPolicy policy;
  for (i64 power = millisecond; power <= 100 * second; power *= 10)
    for (const i64 factor : {1, 2, 5}) policy.timeouts.push_back(factor * power);
  policy.spin_up = 2 * second;
  policy.break_even = 10 * second;
  return policy;
}

void draw_request(DrawnRequests& drawn, const DiskIo::Row& row) {
  const auto& request = row.request;
  if (!request.begin || drawn.requests.size() >= most_requests) {
    ++drawn.left_out;
    return;
  }
  drawn.requests.push_back({*request.begin, request.end.time, request.disk, request.action,
                            request.bytes, request.thread, row.file});
}

}  // namespace

TraceReport::TraceReport(AnalysisRun& run, const TraceReportOptions& options,
                         TracedVolumes& volumes)
    : run_{run},
      options_{options},
      volumes_{volumes},
      trace_{run.input().trace},
      code_{trace_.names(), run.symbols()},
      policy_{rest_policy()},
      waits_{options.top},
      use_{trace_.clock(), trace_.names().sampling_intervals(), code_},
      rest_{trace_.clock(), policy_, network_window * CounterTicks{trace_}.millisecond()},
      disk_{trace_.names(), volumes.on_disk(), CounterTicks{trace_},
            [this](const DiskIo::Row& row) {
              draw_request(requests_, row);
              volumes_.add_request(row);
            },
            [this](u32 disk, const BusyTime::Interval& interval) {
              rest_.add_disk_busy(disk, interval);
              auto& bins = disk_use_[disk];
              bins.begin(run_.observation().observed().first.value_or(interval.from));
              bins.add(interval.from, interval.to);
            }},
      files_{trace_.names()},
      network_{[this](const NetworkTransfer& one) { rest_.add_transfer(one); }},
      services_{code_},
      lanes_{most_slices, most_details},
      running_{trace_.clock(), trace_.names().sampling_intervals(), code_},
      waiting_{CounterTicks{trace_}, trace_.names(), code_},
      request_waits_{CounterTicks{trace_}},
      file_waits_{CounterTicks{trace_}, trace_.names()},
      wait_kinds_{CounterTicks{trace_}, code_},
      priorities_{nullptr},
      answers_{use_, code_, waits_, deadlocks_, disk_, files_, network_, services_} {
  rest_.set_disk(disk_);
}

void TraceReport::observe() {
  std::vector<trace_analysis::Analysis*> analyses{
      &use_,      &waits_, &deadlocks_,     &disk_,       &files_,      &network_,
      &services_, &rest_,  &lanes_,         &running_,    &waiting_,    &graph_,
      &stated_,   &locks_, &request_waits_, &file_waits_, &priorities_, &inversions_};
  // Without symbols no function is known.
  if (run_.symbols().any()) analyses.push_back(&wait_kinds_);
  run_.observe(analyses, nullptr, nullptr);
  std::ranges::stable_sort(requests_.requests, {}, &DrawnRequests::Request::begin);
  note_findings();
}

void TraceReport::note_findings() {
  auto& findings = run_.findings();
  const auto& population = run_.observation().population();
  const TopPage top{trace_, population, answers_, 1};
  if (top.empty())
    run_.note_no_match("the trace says nothing about processes, processors, requests or services");
  note_ready_events(use_.schedule().turns().counts(), run_);
  note_processor_use(use_, code_, findings);
  note_disk_requests(disk_, findings);
  volumes_.note_findings(disk_, findings);
  note_file_requests(files_, findings);
  note_network_requests(network_, findings);
  note_deadlocks(deadlocks_, findings);
  note_services(services_, findings);
}

void TraceReport::add_to(Page& others) const {
  const auto& observation = run_.observation();
  const ThreadNames names{trace_, observation.observed(), run_.symbols()};
  const TopPage top{trace_, observation.population(), answers_, options_.top};
  const ReportAnswers answers{run_.input(),
                              observation.observed(),
                              observation.population(),
                              run_.symbols(),
                              names,
                              answers_,
                              top,
                              lanes_,
                              requests_,
                              disk_use_,
                              running_,
                              waiting_,
                              {graph_, stated_, locks_, request_waits_, file_waits_, wait_kinds_},
                              priorities_,
                              inversions_,
                              rest_,
                              policy_.timeouts,
                              options_};
  Page page;
  add_overview(page, answers);
  add_use(page, answers);
  add_processes(page, answers);
  add_flames(page, answers);
  add_services(page, answers);
  add_waits(page, answers);
  add_requests(page, answers);
  add_idle(page, answers);
  add_tree(page, answers);
  add_findings(page, run_.findings());
  volumes_.write(others, disk_, options_.top);
  const auto written = size_of(page) + size_of(others);
  constexpr u64 least = u64{1} << 16U;
  const auto room = options_.largest - std::min(options_.largest, written);
  add_timeline(page, answers, draw_data(answers, std::max(least, room)));
  std::ranges::move(others.overview, std::back_inserter(page.overview));
  std::ranges::move(others.sections, std::back_inserter(page.sections));
  std::ranges::move(others.data, std::back_inserter(page.data));
  others = std::move(page);
}

}  // namespace coldtrace::cli
