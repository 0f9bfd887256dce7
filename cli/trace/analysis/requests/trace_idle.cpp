#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "cli/command/color_option.hpp"
#include "cli/command/version.hpp"
#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/output/text_charts.hpp"
#include "cli/trace/analysis/histogram_text.hpp"
#include "cli/trace/analysis/requests/io_tables.hpp"
#include "cli/trace/analysis/requests/snapshot_file.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/trace_analysis/findings/answer_findings.hpp"
#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "coldtrace/trace_analysis/requests/rest.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::AtRest;
using trace_analysis::DiskIo;
using trace_analysis::IdleTime;
using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::Rest;
using trace_analysis::RestEnd;
using trace_analysis::RestPolicy;
using trace_analysis::RestSaving;

constexpr i64 millisecond = 10'000;  // units of 100 ns

struct TraceIdleOptions : AnalysisOptions {
  SnapshotOptions snapshot;
  std::vector<u32> timeouts = {1'000, 5'000, 30'000};  // milliseconds, as those that follow
  u32 spin_up = 2'000;
  u32 break_even = 10'000;
  u32 network_window = 100;
  RowOrder order = RowOrder::time;
  u64 top = 5;  // idle times of each device in text
  std::string color;
};

RestPolicy policy_of(const TraceIdleOptions& options) {
  RestPolicy policy;
  for (const auto timeout : options.timeouts) policy.timeouts.push_back(timeout * millisecond);
  policy.spin_up = options.spin_up * millisecond;
  policy.break_even = options.break_even * millisecond;
  return policy;
}

std::string_view kind_of(const AtRest::Device& device) {
  using Kind = AtRest::Device::Kind;
  switch (device.kind) {
    case Kind::processor:
      return "processor";
    case Kind::disk:
      return "disk";
    case Kind::network:
      break;
  }
  return "network";
}

// "request", "switch", "interrupt" (a switch to a thread that an interrupt made ready), "transfer".
std::string_view cause_of(const AtRest::Device& device, const RestEnd& end) {
  using Kind = AtRest::Device::Kind;
  if (device.kind == Kind::disk) return "request";
  if (device.kind == Kind::network) return "transfer";
  return end.in_dpc ? "interrupt" : "switch";
}

class IdleWriter {
 public:
  IdleWriter(const TraceInput& input, const trace_analysis::Observation& observation,
             const RestPolicy& policy, const TraceIdleOptions& options, Output& output)
      : input_{input},
        observation_{observation},
        policy_{policy},
        options_{options},
        output_{output} {}

  void begin_csv() {
    output_.write("device,number,from,duration,cause,process,pid,tid,file,named_by,state\n");
  }

  // While the trace is read.
  void write_row(const AtRest::Device& device, const IdleTime& idle,
                 const trace_analysis::FileTable& files) {
    const auto begin = times().since_start(idle.from);
    print(output_, "{},{},{},{}", kind_of(device), device.number, begin.substr(1), length_of(idle));
    if (!idle.end) {
      output_.write(",,,,,,,\n");
      return;
    }
    const auto ender = ender_of(idle.end->thread, idle.end->process);
    const auto& file = files[idle.end->file];
    const bool named = idle.end->file != 0;
    print(output_, ",{},{},{},{},{},{},{}\n", cause_of(device, *idle.end),
          csv_field(distinct_text(ender.process)), cell(ender.pid), cell(ender.tid),
          csv_field(distinct_text(file.name)),
          named ? file.from_snapshot ? "snapshot" : "trace" : "",
          named && file.from_snapshot ? to_string(file.state) : "");
  }

  void write_json(const AtRest& rest, const trace_analysis::FileTable& files) {
    JsonWriter json{output_, options_.int64};
    json.begin_object().field("schema", "coldtrace.trace-idle/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    json.field("elapsed", times().duration(rest.elapsed()))
        .field("timeouts", policy_.timeouts)
        .field("spin_up", policy_.spin_up)
        .field("break_even", policy_.break_even)
        .field("network_window", options_.network_window * millisecond)
        .key("devices")
        .begin_array();
    for (const auto& [device, one] : rest.devices()) {
      json.begin_object()
          .field("device", kind_of(device))
          .field("number", device.number)
          .field("busy", times().duration(one.busy()))
          .field("idle", times().duration(one.idle()))
          .field("unknown", times().duration(unknown(rest, one)));
      write_histogram(json, "busy_times", one.busy_times());
      write_histogram(json, "idle_times", one.idle_times());
      json.key("longest").begin_array();
      for (const auto& idle : one.longest()) write_idle(json, device, idle, files);
      json.end_array().key("ended_by").begin_array();
      write_enders(json, one);
      json.end_array().key("savings").begin_array();
      for (std::size_t i = 0; i < policy_.timeouts.size(); ++i)
        write_saving(json, policy_.timeouts[i], one.savings()[i]);
      json.end_array().key("optimum");
      write_saving(json, std::nullopt, one.optimum());
      json.end_object();
    }
    json.end_array().key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_text(const AtRest& rest, const trace_analysis::FileTable& files) {
    print(output_,
          "Elapsed        {}\nSpin-up        {}, break-even {}\nNetwork window {} (half of it "
          "before and after each transfer)\n",
          times().text(rest.elapsed()), duration_text(policy_.spin_up),
          duration_text(policy_.break_even), duration_text(options_.network_window * millisecond));
    const TextCharts charts{options_.output, options_.color};
    const auto text = [this](i64 ticks) { return times().text(ticks); };
    for (const auto& [device, one] : rest.devices()) {
      const auto& idle = one.idle_times();
      const auto median = idle.percentile(50);
      print(output_, "\n{} {}: busy {}, idle {} ({}, p50 {}, longest {}), unknown {}\n",
            kind_of(device), device.number, text(one.busy()), text(one.idle()),
            counted(idle.count(), "time", "times"), median ? text(static_cast<i64>(*median)) : "-",
            median ? text(static_cast<i64>(idle.greatest())) : "-", text(unknown(rest, one)));
      print(output_, "  idle times: {}\n  busy times: {}\n", octaves_text(one.idle_times(), text),
            octaves_text(one.busy_times(), text));
      if (charts.shown()) write_charts(charts, rest, one);
      for (std::size_t i = 0; i < policy_.timeouts.size(); ++i)
        write_saving_line(fmt::format("off after {}", duration_text(policy_.timeouts[i])),
                          policy_.timeouts[i], one.savings()[i]);
      write_saving_line("offline optimum", 0, one.optimum());
      const auto shown = std::min<std::size_t>(one.longest().size(), options_.top);
      for (std::size_t i = 0; i < shown; ++i) write_idle_line(device, one.longest()[i], files);
      write_ender_lines(one);
    }
  }

 private:
  // What the device did of all time, and how many times lasted how long.
  void write_charts(const TextCharts& charts, const AtRest& rest, const Rest& one) {
    constexpr std::size_t most = 40, least = 4, around = 22;  // columns
    const auto room = charts.columns() - std::min(charts.columns(), around);
    const auto width = std::clamp(room, least, most);
    const auto whole = static_cast<double>(rest.elapsed());
    for (const auto& [name, part] : {std::pair{"busy", one.busy()}, std::pair{"idle", one.idle()},
                                     std::pair{"unknown", unknown(rest, one)}})
      print(output_, "  {:<11} {} {:5.1f} %\n", name,
            charts.bar(static_cast<double>(part), whole, width),
            whole > 0 ? 100 * static_cast<double>(part) / whole : 0);
    for (const auto& [name, times_of] :
         {std::pair{"idle times", &one.idle_times()}, std::pair{"busy times", &one.busy_times()}}) {
      if (times_of->count() == 0) continue;
      const auto octaves = octaves_of(*times_of);
      print(output_, "  {:<11} {} up to {} ... {}, doubling\n", name,
            charts.sparkline(octaves.counts), times().text(octaves.least),
            times().text(octaves.greatest));
    }
  }

  TraceTimes times() const {
    return TraceTimes{input_.trace.clock(), observation_.observed().first};
  }
  i64 length_of(const IdleTime& idle) const {
    return times().duration(trace_analysis::ticks_between(idle.from, idle.to));
  }
  static i64 unknown(const AtRest& rest, const Rest& one) {
    return std::max<i64>(0, rest.elapsed() - one.busy() - one.idle());
  }

  void write_histogram(JsonWriter& json, std::string_view name,
                       const trace_analysis::Histogram& histogram) const {
    json.key(name).begin_array();
    for (const auto& step : histogram.steps())
      json.object("up_to", times().duration(static_cast<i64>(step.greatest)), "count", step.count);
    json.end_array();
  }

  ThreadIds ender_of(Index thread, Index process) const {
    const auto& population = observation_.population();
    return thread != nobody ? ids_of(population, thread) : ids_of_process(population, process);
  }

  void write_ender(JsonWriter& json, Index thread, Index process) const {
    const auto ender = ender_of(thread, process);
    json.field("tid", ender.tid)
        .field("pid", ender.pid)
        .field("process", ExactText{text_or_null(ender.process)});
  }

  void write_idle(JsonWriter& json, const AtRest::Device& device, const IdleTime& idle,
                  const trace_analysis::FileTable& files) const {
    json.begin_object()
        .field("from", times().utc(idle.from))
        .field("duration", length_of(idle))
        .key("end");
    if (!idle.end) {
      json.value(std::optional<u64>{});
    } else {
      const auto& file = files[idle.end->file];
      const bool named = idle.end->file != 0;
      json.begin_object().field("cause", cause_of(device, *idle.end));
      write_ender(json, idle.end->thread, idle.end->process);
      json.field("file", ExactText{named ? std::optional{file.name} : std::nullopt})
          .field("named_by",
                 named ? std::optional{file.from_snapshot ? "snapshot" : "trace"} : std::nullopt)
          .field("state",
                 named && file.from_snapshot ? std::optional{to_string(file.state)} : std::nullopt)
          .end_object();
    }
    json.end_object();
  }

  void write_ender_lines(const Rest& one) {
    const auto all = one.ended(options_.order);
    const auto shown = std::min<std::size_t>(all.size(), options_.top);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& [who, ended] = all[i];
      const auto ender = ender_of(who.first, who.second);
      print(output_, "  ended {}x after {} in all by {}{} ({})\n", grouped(ended.count),
            times().text(ended.time),
            ender.tid ? fmt::format("thread {} of ", *ender.tid) : std::string{},
            ender.process.empty() ? "-" : printable(ender.process),
            ender.pid ? fmt::format("{}", *ender.pid) : "-");
    }
    if (shown < all.size())
      print(output_, "  {} more that ended idle times\n", grouped(all.size() - shown));
  }

  void write_enders(JsonWriter& json, const Rest& one) const {
    for (const auto& [who, ended] : one.ended(options_.order)) {
      json.begin_object();
      write_ender(json, who.first, who.second);
      json.field("count", ended.count).field("duration", times().duration(ended.time)).end_object();
    }
  }

  i64 off(const RestSaving& saving, i64 timeout) const {
    return saving.off(input_.trace.clock(), timeout);
  }

  void write_saving(JsonWriter& json, std::optional<i64> timeout, const RestSaving& saving) const {
    json.begin_object();
    if (timeout) json.field("timeout", *timeout);
    json.field("off", off(saving, timeout.value_or(0)))
        .field("spin_ups", saving.spin_ups)
        .field("waiting", saving.waiting)
        .end_object();
  }

  void write_saving_line(std::string_view policy, i64 timeout, const RestSaving& saving) {
    print(output_, "  {:<24} {} off, {} spin-ups, {} of waiting\n", policy,
          duration_text(off(saving, timeout)), grouped(saving.spin_ups),
          duration_text(saving.waiting));
  }

  void write_idle_line(const AtRest::Device& device, const IdleTime& idle,
                       const trace_analysis::FileTable& files) {
    print(output_, "  {} idle {}", times().since_start(idle.from), duration_text(length_of(idle)));
    if (!idle.end) {
      output_.write(", to the end of the trace\n");
      return;
    }
    const auto ender = ender_of(idle.end->thread, idle.end->process);
    print(output_, ", ended by {} of {} ({})", cause_of(device, *idle.end),
          ender.process.empty() ? "-" : printable(ender.process),
          ender.pid ? fmt::format("{}", *ender.pid) : "-");
    if (idle.end->file != 0) print(output_, ", {}", printable(files[idle.end->file].name));
    output_.write("\n");
  }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const RestPolicy& policy_;
  const TraceIdleOptions& options_;
  Output& output_;
};

Exit run_trace_idle(const TraceIdleOptions& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  const auto& trace = run.input().trace;
  const SnapshotInput snapshot{options.snapshot, options.names_limit, run.findings(), run.report()};
  if (!snapshot.opened()) return Exit::failure;
  const auto policy = policy_of(options);
  const trace_analysis::CounterTicks counter{trace};
  i64 window = 0;
  if (__builtin_mul_overflow(counter.millisecond(), i64{options.network_window}, &window))
    window = std::numeric_limits<i64>::max();
  Output output{options.output};
  IdleWriter writer{run.input(), run.observation(), policy, options, output};
  const bool csv = options.format == "csv";
  AtRest* at_rest = nullptr;
  DiskIo disk{trace.names(),
              snapshot.on_disk(),
              counter,
              {},
              [&](u32 number, const trace_analysis::BusyTime::Interval& interval) {
                at_rest->add_disk_busy(number, interval);
              }};
  trace_analysis::NetworkIo network{
      [&](const trace_analysis::NetworkTransfer& one) { at_rest->add_transfer(one); }};
  AtRest rest{trace.clock(), policy, window,
              csv ? AtRest::Sink{[&](const AtRest::Device& device, const IdleTime& idle) {
                writer.write_row(device, idle, disk.files());
              }}
                  : nullptr};
  at_rest = &rest;
  rest.set_disk(disk);
  if (csv) writer.begin_csv();
  run.observe({&disk, &network, &rest});
  if (rest.devices().empty())
    run.note_no_match("the trace has no context switches, requests to disks or transfers",
                      {Need::switches, Need::disk_requests, Need::network_transfers});
  note_disk_requests(disk, run.findings());
  note_network_requests(network, run.findings());
  if (options.format == "json") writer.write_json(rest, disk.files());
  if (options.format == "text") writer.write_text(rest, disk.files());
  return run.finish(output);
}

}  // namespace

void add_trace_idle(CLI::App& app, Exit& exit) {
  add_command<TraceIdleOptions>(
      app, exit,
      {"idle",
       "Show idle times of processors, disks and network, and what power-down timeouts save",
       "  coldtrace trace idle run.etl\n"
       "  coldtrace trace idle run.etl --idle-timeout 2000,10000 --spin-up 5000\n"
       "  coldtrace trace idle run.ctrace --snapshot files.ndjson --format csv -o idle.csv\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or the trace shows none of these; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, TraceIdleOptions& options) {
        add_analysis_options(command, options);
        add_snapshot_options(command, options.snapshot);
        command
            .add_option("--idle-timeout", options.timeouts,
                        "Simulate power-down after this idle time")
            .list("MILLISECONDS")
            .default_str("1000,5000,30000");
        command.add_option("--spin-up", options.spin_up, "Time to power up again")
            .type_name("MILLISECONDS")
            .capture_default_str();
        command.add_option("--break-even", options.break_even, "Minimum off time that saves energy")
            .type_name("MILLISECONDS")
            .capture_default_str();
        command
            .add_option("--network-window", options.network_window,
                        "The network counts as busy for this time around each event")
            .type_name("MILLISECONDS")
            .capture_default_str();
        add_sort_option(command, options.order,
                        "Sort what ended idle times by the time of these or by their number, most "
                        "first",
                        {"text", "json"});
        command.add_option("--top", options.top, "In text: idle times to show per device")
            .for_formats({"text"})
            .capture_default_str();
        add_color_option(command, options.color);
      },
      run_trace_idle);
}

}  // namespace coldtrace::cli
