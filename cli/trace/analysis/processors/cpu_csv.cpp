#include <fmt/format.h>

#include "cli/output/exact_text.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/analysis/processors/cpu_tables.hpp"

namespace coldtrace::cli {
namespace {

using trace_analysis::Index;
using trace_analysis::nobody;
using trace_analysis::RoutineUse;
using trace_analysis::SampledUse;
using trace_analysis::ThreadUse;

constexpr std::string_view columns =
    "of,process,pid,tid,start,cpu,module,function,kind,samples,sampled,sampled_dpc,"
    "sampled_isr,turns,running,interrupted,difference,runs,inclusive,exclusive\n";

// What is not there is an empty cell.
struct Row {
  std::string_view of;
  std::string process, pid, tid, start, processor;
  std::string_view module, function;
  std::optional<SampledUse> sampled;
  std::optional<u64> turns;
  std::optional<i64> running, interrupted, difference;  // units of 100 ns
  const RoutineUse* routine = nullptr;
};

class CpuCsv {
 public:
  CpuCsv(Output& output, const CpuTables& tables) : tables_{tables}, output_{output} {}

  void write() {
    const auto& use = tables_.use;
    output_.write(columns);
    for (const auto number : use.processors_seen()) write_processor(number);
    for (const auto i : tables_.processes())
      write_row(row_of("process", use.processes()[i], i, nobody));
    if (is_used(use.unknown_process()))
      write_row(row_of("process", use.unknown_process(), nobody, nobody));
    for (const auto i : tables_.threads())
      write_row(row_of("thread", use.threads()[i], tables_.population.threads()[i].process, i));
    for (const auto i : tables_.modules()) {
      Row row{"module"};
      row.module = tables_.code.modules()[i];
      row.sampled = use.modules()[i];
      write_row(row);
    }
    for (const auto i : tables_.functions()) {
      auto row = row_of_function("function", i);
      row.sampled = use.functions()[i];
      write_row(row);
    }
    for (const auto i : tables_.routines()) {
      auto row = row_of_function("routine", use.routines()[i].code.function);
      row.module = tables_.code.modules()[use.routines()[i].code.module];
      row.routine = &use.routines()[i];
      write_row(row);
    }
  }

 private:
  void write_processor(u16 number) {
    Row row{"processor"};
    row.processor = fmt::format("{}", number);
    row.sampled = tables_.share_of(number).sampled;
    row.running = tables_.if_switches(tables_.schedule_of(number).busy);
    write_row(row);
  }

  Row row_of_function(std::string_view of, u32 number) const {
    const auto& function = tables_.code.functions()[number];
    Row row{of};
    row.module = tables_.code.modules()[function.module];
    row.function = function.name;
    return row;
  }

  Row row_of(std::string_view of, const ThreadUse& use, Index process, Index thread) const {
    Row row{of};
    std::optional<i64> start;
    if (process != nobody) {
      const auto& known = tables_.population.processes()[process];
      row.process = known.image_name;
      row.pid = fmt::format("{}", known.pid);
      start = known.life.start;
    }
    if (thread != nobody) {
      const auto& known = tables_.population.threads()[thread];
      row.tid = fmt::format("{}", known.tid);
      start = known.life.start;
      row.processor = cell(known.idle_of);
    }
    row.start = tables_.times.utc(start).value_or("");
    row.sampled = use.sampled;
    if (tables_.use.has_switches()) row.turns = use.turns;
    row.running = tables_.if_switches(use.running);
    row.interrupted = tables_.interrupted(use);
    row.difference = tables_.difference(use);
    return row;
  }

  void write_row(const Row& row) {
    line_.clear();
    for (const auto text : {row.of, std::string_view{row.process}, std::string_view{row.pid},
                            std::string_view{row.tid}, std::string_view{row.start},
                            std::string_view{row.processor}, row.module, row.function})
      line_ += csv_field(distinct_text(text)) + ',';
    if (row.routine != nullptr) line_ += to_string(row.routine->routine.kind);
    if (row.sampled && tables_.use.has_samples())
      line_ +=
          fmt::format(",{},{},{},{}", row.sampled->all.samples, duration(row.sampled->all.time),
                      duration(row.sampled->in_dpc.time), duration(row.sampled->in_isr.time));
    else
      line_ += ",,,,";
    line_ += fmt::format(",{},{},{},{}", cell(row.turns), cell(row.running), cell(row.interrupted),
                         cell(row.difference));
    if (row.routine != nullptr)
      line_ += fmt::format(",{},{},{}\n", row.routine->runs, duration(row.routine->inclusive),
                           duration(row.routine->exclusive));
    else
      line_ += ",,,\n";
    output_.write(line_);
  }

  i64 duration(i64 ticks) const { return tables_.times.duration(ticks); }

  const CpuTables& tables_;
  Output& output_;
  std::string line_;
};

}  // namespace

void write_cpu_csv(Output& output, const CpuTables& tables) {
  CpuCsv{output, tables}.write();
}

}  // namespace coldtrace::cli
