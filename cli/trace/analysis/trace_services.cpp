#include <algorithm>

#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "cli/trace/system_call_names.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/trace_analysis/function_names.hpp"
#include "coldtrace/trace_analysis/services.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::CallEdge;
using trace_analysis::Service;
using trace_analysis::Services;
using trace_analysis::ServiceSums;

struct Options : AnalysisOptions {
  std::string syscall_map;
  std::vector<std::string> services;
  u64 top = 20;   // services in text
  u64 depth = 4;  // of trees
  bool trees = false;
};

// Names of services, each with its number in the answer.
class ServiceNames {
 public:
  ServiceNames(const Services& services, const tracefile::NameTables& images,
               const SystemCallNames* calls, i64 time)
      : services_{services}, images_{images}, calls_{calls}, time_{time} {}

  // Empty when nothing is known.
  std::string find(const Service& service) const {
    using Kind = Service::Kind;
    switch (service.kind) {
      case Kind::system_call:
        return calls_ == nullptr ? "" : find(calls_->by_number, service.number);
      case Kind::hashed_system_call:
        return calls_ == nullptr ? "" : find(calls_->by_hash, service.number);
      case Kind::vxd_service:
        return std::string{services_.name_of(service)};
      default:
        return images_.find(std::nullopt, service.number, time_);
    }
  }

  // "NtClose", or what there is: "system call 0x12", "VxD 64 service 50", "DPC 0xfffff80001003000".
  std::string label(const Service& service) const {
    using Kind = Service::Kind;
    const auto name = printable(find(service));
    switch (service.kind) {
      case Kind::system_call:
        return name.empty() ? fmt::format("system call {:#x}", service.number) : name;
      case Kind::hashed_system_call:
        return name.empty() ? fmt::format("system call of hash {:#x}", service.number) : name;
      case Kind::vxd_service:
        if (!name.empty()) return name;
        return fmt::format("VxD {:#x} service {}", service.number >> 16, service.number & 0xffff);
      case Kind::system_call_address:
        return fmt::format("system call {}", address(name, service.number));
      case Kind::isr:
        return fmt::format("ISR {}", address(name, service.number));
      case Kind::dpc:
        return fmt::format("DPC {}", address(name, service.number));
      case Kind::timer_dpc:
        return fmt::format("timer DPC {}", address(name, service.number));
      case Kind::io_timer:
        return fmt::format("I/O timer {}", address(name, service.number));
    }
    return name;
  }

 private:
  static std::string find(const std::map<u32, std::string>& names, u64 number) {
    const auto place = names.find(static_cast<u32>(number));
    return place == names.end() ? std::string{} : place->second;
  }
  static std::string address(const std::string& name, u64 number) {
    return name.empty() ? fmt::format("{:#x}", number) : name;
  }

  const Services& services_;
  trace_analysis::ImageOffsets images_;
  const SystemCallNames* calls_;
  i64 time_;
};

// Which services are shown, and in which order: those that cost most first.
std::vector<u32> choose(const Services& services, const ServiceNames& names,
                        const std::vector<std::string>& wanted, core::Findings& findings) {
  const auto& all = services.services();
  std::vector<std::string> labels;
  for (const auto& one : all) labels.push_back(names.label(one.service));
  std::vector<u32> chosen;
  std::vector<bool> met(wanted.size());
  for (u32 i = 0; i < all.size(); ++i) {
    bool wants = wanted.empty();
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (glob_matches(wanted[k], labels[i], GlobCase::insensitive)) wants = met[k] = true;
    if (wants) chosen.push_back(i);
  }
  core::NoMatch unmatched;
  const std::vector<std::string_view> known{labels.begin(), labels.end()};
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (!met[k]) unmatched.add("--service", wanted[k], known);
  unmatched.report(findings);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](u32 a, u32 b) { return all[a].inclusive > all[b].inclusive; });
  return chosen;
}

class ServicesWriter {
 public:
  ServicesWriter(const TraceInput& input, const trace_analysis::Observation& observation,
                 const Services& services, const ServiceNames& names, Output& output)
      : input_{input},
        observation_{observation},
        services_{services},
        names_{names},
        output_{output},
        clock_{input.trace.clock()} {}

  void write_json(const std::vector<u32>& chosen, Int64 int64) {
    JsonWriter json{output_, int64};
    json.begin_object().field("schema", "coldtrace.trace-services/1").field("tool", tool_version);
    write_observed(json, input_.trace, observation_.observed());
    json.field("without_thread", services_.without_thread())
        .field("unmatched_returns", services_.nameless_returns())
        .key("services")
        .begin_array();
    for (const auto number : chosen) write_service(json, number);
    json.end_array().key("calls").begin_array();
    std::vector<bool> shown(services_.services().size());
    for (const auto number : chosen) shown[number] = true;
    for (const auto& edge : services_.edges())
      if (shown[edge.caller] || shown[edge.callee])
        json.object("caller", edge.caller, "callee", edge.callee, "calls", edge.calls, "inclusive",
                    duration(edge.inclusive));
    json.end_array().key("findings");
    write_findings(json, input_.findings);
    json.end_object().end_document();
  }

  void write_csv(const std::vector<u32>& chosen) {
    output_.write(
        "service,kind,number,calls,open,unmatched,untimed,inclusive,exclusive,on_processor,cycles,"
        "mean,least,p50,p90,p99,greatest\n");
    for (const auto number : chosen) {
      const auto& one = services_.services()[number];
      print(output_, "{},{},{},{},{},{},{},{},{},{},{}", csv_field(names_.label(one.service)),
            to_string(one.service.kind), one.service.number, one.calls, one.open, one.unmatched,
            one.untimed, duration(one.inclusive), duration(one.exclusive),
            cell(duration(one.on_processor)), cell(one.cycles));
      print(output_, ",{},{},{},{},{},{}\n", cell(mean(one)), cell(least(one)), cell(at(one, 50)),
            cell(at(one, 90)), cell(at(one, 99)), cell(greatest(one)));
    }
  }

  void write_text(const std::vector<u32>& chosen, const Options& options) {
    print(output_, "{:>9} {:>7} {:>13} {:>13} {:>13} {:>12} {:>12} {:>12} {:>12}  {}\n", "calls",
          "open", "inclusive", "exclusive", "on processor", "mean", "p50", "p99", "longest",
          "service");
    const auto shown = std::min<std::size_t>(chosen.size(), options.top);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto& one = services_.services()[chosen[i]];
      print(output_, "{:>9} {:>7} {:>13} {:>13} {:>13} {:>12} {:>12} {:>12} {:>12}  {}\n",
            one.calls, one.open, seconds(duration(one.inclusive)), seconds(duration(one.exclusive)),
            seconds(duration(one.on_processor)), seconds(mean(one)), seconds(at(one, 50)),
            seconds(at(one, 99)), seconds(greatest(one)), names_.label(one.service));
    }
    if (shown < chosen.size()) print(output_, "{} more services\n", chosen.size() - shown);
    if (!options.trees) return;
    for (std::size_t i = 0; i < shown; ++i) write_trees(chosen[i], options.depth);
  }

 private:
  static constexpr std::size_t most_branches = 200;  // of a tree

  void write_service(JsonWriter& json, u32 number) const {
    const auto& one = services_.services()[number];
    const auto name = names_.find(one.service);
    json.begin_object()
        .field("id", number)
        .field("kind", to_string(one.service.kind))
        .field("number", one.service.number)
        .field("name", name.empty() ? std::nullopt : std::optional{name})
        .field("calls", one.calls)
        .field("open", one.open)
        .field("unmatched", one.unmatched)
        .field("untimed", one.untimed)
        .field("inclusive", duration(one.inclusive))
        .field("exclusive", duration(one.exclusive))
        .field("on_processor", duration(one.on_processor))
        .field("cycles", one.cycles)
        .field("mean", mean(one))
        .field("least", least(one))
        .field("p50", at(one, 50))
        .field("p90", at(one, 90))
        .field("p99", at(one, 99))
        .field("greatest", greatest(one))
        .key("histogram")
        .begin_array();
    for (const auto& step : one.times.steps())
      json.object("up_to", duration(static_cast<i64>(step.greatest)), "calls", step.count);
    json.end_array().end_object();
  }

  // Totals are those of the edge, whatever the path; what lies on the path already ends it.
  void write_trees(u32 number, u64 depth) {
    print(output_, "\n{}\n", names_.label(services_.services()[number].service));
    write_tree("calls", number, depth, &CallEdge::caller, &CallEdge::callee);
    write_tree("is called by", number, depth, &CallEdge::callee, &CallEdge::caller);
  }

  void write_tree(std::string_view title, u32 number, u64 depth, u32 CallEdge::*from,
                  u32 CallEdge::*to) {
    const auto& edges = services_.edges();
    if (std::none_of(edges.begin(), edges.end(),
                     [&](const CallEdge& edge) { return edge.*from == number; }))
      return;
    print(output_, "  {}\n", title);
    std::vector<u32> path{number};
    std::size_t room = most_branches;
    write_branches(path, depth, room, from, to);
    if (room == 0) output_.write("    more\n");
  }

  // Paths of a graph can be as many as its edges to the power of the depth.
  void write_branches(std::vector<u32>& path, u64 depth, std::size_t& room, u32 CallEdge::*from,
                      u32 CallEdge::*to) {
    if (path.size() > depth) return;
    for (const auto& edge : services_.edges()) {
      if (edge.*from != path.back()) continue;
      if (room == 0) return;
      --room;
      const auto next = edge.*to;
      const bool recursive = std::find(path.begin(), path.end(), next) != path.end();
      print(output_, "{:{}}{}  {}x {}{}\n", "", 2 * path.size() + 2,
            names_.label(services_.services()[next].service), edge.calls,
            seconds(duration(edge.inclusive)), recursive ? "  recursive" : "");
      if (recursive) continue;
      path.push_back(next);
      write_branches(path, depth, room, from, to);
      path.pop_back();
    }
  }

  i64 duration(i64 ticks) const { return clock_.to_duration(ticks); }
  std::optional<i64> duration(std::optional<i64> ticks) const {
    if (!ticks) return std::nullopt;
    return duration(*ticks);
  }

  // Of all calls; those inside another one of the same service too.
  std::optional<i64> mean(const ServiceSums& one) const {
    if (one.times.count() == 0) return std::nullopt;
    return duration(static_cast<i64>(one.times.sum() / one.times.count()));
  }
  std::optional<i64> least(const ServiceSums& one) const {
    if (one.times.count() == 0) return std::nullopt;
    return duration(static_cast<i64>(one.times.least()));
  }
  std::optional<i64> greatest(const ServiceSums& one) const {
    if (one.times.count() == 0) return std::nullopt;
    return duration(static_cast<i64>(one.times.greatest()));
  }
  std::optional<i64> at(const ServiceSums& one, unsigned percent) const {
    const auto value = one.times.percentile(percent);
    if (!value) return std::nullopt;
    return duration(static_cast<i64>(*value));
  }

  template <class T>
  static std::string cell(const std::optional<T>& number) {
    return number ? fmt::format("{}", *number) : std::string{};
  }
  static std::string seconds(std::optional<i64> units) {
    return units ? seconds_text(*units) : "-";
  }

  const TraceInput& input_;
  const trace_analysis::Observation& observation_;
  const Services& services_;
  const ServiceNames& names_;
  Output& output_;
  const tracefile::Clock& clock_;
};

void note_services(const Services& services, core::Findings& findings) {
  if (services.services().empty())
    findings.warning("no-match", std::nullopt,
                     "the trace has no calls of services and no interrupts");
  if (services.without_thread() > 0)
    findings.info("call-without-thread", std::nullopt,
                  "{} calls and returns are of threads that no context switch names",
                  services.without_thread());
}

Exit run(const Options& options) {
  AnalysisRun run{options, TraceUse::lines};
  if (!run.opened()) return Exit::failure;
  std::optional<SystemCallNames> calls;
  if (!options.syscall_map.empty()) {
    calls = read_trace_call_names(options.syscall_map, run.input(), run.report());
    if (!calls) return Exit::failure;
  }
  Services services;
  run.observe({&services});
  note_services(services, run.findings());
  const auto& observation = run.observation();
  const ServiceNames names{services, run.input().trace.names(), calls ? &*calls : nullptr,
                           observation.observed().last.value_or(0)};
  const auto chosen = choose(services, names, options.services, run.findings());
  Output output{options.output};
  ServicesWriter writer{run.input(), observation, services, names, output};
  if (options.format == "json")
    writer.write_json(chosen, options.int64);
  else if (options.format == "csv")
    writer.write_csv(chosen);
  else
    writer.write_text(chosen, options);
  return run.finish(output);
}

}  // namespace

void add_trace_services(CLI::App& app, Exit& exit) {
  add_command<Options>(
      app, exit,
      {"services", "What was called, by whom and at what cost: system calls, VxDs, DPCs, ISRs",
       "  coldtrace trace services run.etl\n"
       "  coldtrace trace services run.ctrace --syscall-map ntdll.dll --service 'NtOpen*' --trees\n"
       "  coldtrace trace services run.etl --format csv -o services.csv\n",
       "  0  the whole trace was read\n"
       "  1  events are missing, or what was asked for; the rest was written\n"
       "  2  not a trace, or it cannot be read or written\n"},
      {"text", "json", "csv"},
      [](Command& command, Options& options) {
        add_analysis_options(command, options);
        command.add_input(
            "--syscall-map", options.syscall_map,
            "Names system calls of a .ctrace file: ntdll.dll, or the JSON of 'syscalls map'");
        command
            .add_option("--service", options.services,
                        "Only these services, by the name or glob of the last column")
            .list("SERVICE");
        command.add_option("--top", options.top, "In text: services that are shown")
            .capture_default_str();
        command.add_flag("--trees", options.trees,
                         "In text: what each of them calls and is called by, directly and not");
        command.add_option("--depth", options.depth, "Of these trees").capture_default_str();
      },
      run);
}

}  // namespace coldtrace::cli
