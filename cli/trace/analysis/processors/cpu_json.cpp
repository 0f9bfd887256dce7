#include <fmt/format.h>

#include "cli/command/version.hpp"
#include "cli/trace/analysis/processors/cpu_tables.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::RoutineUse;
using trace_analysis::SampledUse;
using trace_analysis::ThreadUse;

class CpuJson {
 public:
  CpuJson(Output& output, const CpuTables& tables, Int64 int64)
      : tables_{tables}, json_{output, int64} {}

  void write() {
    const auto& use = tables_.use;
    json_.begin_object().field("schema", "coldtrace.trace-cpu/1").field("tool", tool_version);
    write_observed(json_, tables_.input.trace, tables_.observed);
    json_.field("elapsed", duration(use.schedule().elapsed()));
    write_sampling();
    const auto& switches = use.schedule().turns().counts();
    json_.key("switches").object("count", switches.switches, "broken", switches.broken);
    json_.key("processors").begin_array();
    for (const auto number : use.processors_seen()) write_processor(number);
    json_.end_array().key("processes").begin_array();
    for (const auto i : tables_.processes()) write_process(i);
    json_.end_array().key("unknown_process").begin_object();
    write_use(use.unknown_process());
    json_.end_object().key("threads").begin_array();
    for (const auto i : tables_.threads()) write_thread(i);
    json_.end_array().key("modules").begin_array();
    for (const auto i : tables_.modules()) {
      json_.begin_object().field("module", ExactText{tables_.module_or_null(i)});
      write_sampled(use.modules()[i]);
      json_.end_object();
    }
    json_.end_array().key("functions").begin_array();
    for (const auto i : tables_.functions()) write_function(i);
    json_.end_array().key("drivers").begin_array();
    for (const auto& one : tables_.drivers())
      json_.object("module", ExactText{tables_.module_or_null(one.module)}, "dpcs", one.dpcs,
                   "dpc_time", duration(one.in_dpc), "isrs", one.isrs, "isr_time",
                   duration(one.in_isr));
    json_.end_array().key("routines").begin_array();
    for (const auto i : tables_.routines()) write_routine(use.routines()[i]);
    json_.end_array();
    tables_.symbols.write(json_);
    json_.key("findings");
    write_findings(json_, tables_.input.findings);
    json_.end_object().end_document();
  }

 private:
  void write_sampling() {
    const auto& use = tables_.use;
    json_.key("sampling").begin_object().field("interval", use.interval());
    write_sampled(use.total());
    json_.field("low_power", use.counts().low_power)
        .field("threadless", use.counts().threadless)
        .field("unweighted", use.total().all.firsts)
        .end_object();
  }

  void write_processor(u16 number) {
    const auto share = tables_.share_of(number);
    const auto schedule = tables_.schedule_of(number);
    json_.begin_object().field("cpu", number);
    write_sampled(share.sampled);
    json_.field("sampled_idle", duration(share.sampled_idle.time))
        .field("busy", tables_.if_switches(schedule.busy))
        .field("idle", tables_.if_switches(schedule.idle))
        .field("unknown", tables_.if_switches(schedule.unknown))
        .field("dpc_time", tables_.if_interrupts(share.in_dpc))
        .field("isr_time", tables_.if_interrupts(share.in_isr))
        .end_object();
  }

  void write_process(Index index) {
    const auto& process = tables_.population.processes()[index];
    json_.begin_object()
        .field("pid", process.pid)
        .field("process", ExactText{text_or_null(process.image_name)})
        .field("start", tables_.times.utc(process.life.start));
    write_use(tables_.use.processes()[index]);
    json_.end_object();
  }

  void write_thread(Index index) {
    const auto& thread = tables_.population.threads()[index];
    std::optional<std::string> process;
    if (thread.process != nobody)
      process = text_or_null(tables_.population.processes()[thread.process].image_name);
    json_.begin_object()
        .field("tid", thread.tid)
        .field("pid", pid_of(tables_.population, index))
        .field("process", ExactText{process})
        .field("start", tables_.times.utc(thread.life.start))
        .field("idle_cpu", thread.idle_of);
    write_use(tables_.use.threads()[index]);
    json_.end_object();
  }

  void write_function(u32 number) {
    const auto& function = tables_.code.functions()[number];
    json_.begin_object()
        .field("function", ExactText{function.name})
        .field("module", ExactText{tables_.module_or_null(function.module)});
    write_sampled(tables_.use.functions()[number]);
    json_.end_object();
  }

  void write_routine(const RoutineUse& one) {
    json_.begin_object()
        .field("kind", to_string(one.routine.kind))
        .field("address", fmt::format("{:#x}", one.routine.number))
        .field("function", ExactText{tables_.code.functions()[one.code.function].name})
        .field("module", ExactText{tables_.module_or_null(one.code.module)})
        .field("runs", one.runs)
        .field("untimed", one.untimed)
        .field("inclusive", duration(one.inclusive))
        .field("exclusive", duration(one.exclusive))
        .end_object();
  }

  void write_use(const ThreadUse& use) {
    write_sampled(use.sampled);
    std::optional<u64> turns;
    if (tables_.use.has_switches()) turns = use.turns;
    json_.field("turns", turns)
        .field("running", tables_.if_switches(use.running))
        .field("interrupted", tables_.interrupted(use))
        .field("difference", tables_.difference(use));
  }

  void write_sampled(const SampledUse& use) {
    json_.field("samples", use.all.samples)
        .field("sampled", duration(use.all.time))
        .field("sampled_dpc", duration(use.in_dpc.time))
        .field("sampled_isr", duration(use.in_isr.time));
  }

  i64 duration(i64 ticks) const { return tables_.times.duration(ticks); }

  const CpuTables& tables_;
  JsonWriter json_;
};

}  // namespace

void write_cpu_json(Output& output, const CpuTables& tables, Int64 int64) {
  CpuJson{output, tables, int64}.write();
}

}  // namespace coldtrace::cli
