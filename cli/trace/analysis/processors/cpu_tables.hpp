#pragma once

#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/processors/driver_use.hpp"

namespace coldtrace::cli {

// What used the processors as tables: which rows there are, in which order, and what they are
// called. Each way of writing them (JSON, CSV, text) has a file of its own.
struct CpuTables {
  const TraceInput& input;
  const trace_analysis::Observed& observed;
  const trace_analysis::Population& population;
  const SymbolNames& symbols;
  const trace_analysis::ProcessorUse& use;
  const trace_analysis::CodeNames& code;
  TraceTimes times;
  RowOrder order;

  // Numbers of the rows, in that order.
  std::vector<u32> processes() const;
  std::vector<u32> threads() const;
  std::vector<u32> modules() const;
  std::vector<u32> functions() const;
  std::vector<u32> routines() const;
  std::vector<trace_analysis::DriverUse> drivers() const;

  // Of one of `processors_seen`.
  trace_analysis::ProcessorShare share_of(u16 processor) const;
  trace_analysis::ProcessorSchedule schedule_of(u16 processor) const;

  // Null where the trace lacks what it is reckoned from. In units of 100 ns.
  std::optional<i64> if_switches(i64 ticks) const;
  std::optional<i64> if_interrupts(i64 ticks) const;
  std::optional<i64> interrupted(const trace_analysis::ThreadUse& thread) const;
  std::optional<i64> difference(const trace_analysis::ThreadUse& thread) const;

  std::optional<std::string_view> module_or_null(u32 module) const;
};

// Whether anything is known of a thread or process.
bool is_used(const trace_analysis::ThreadUse& use);

void write_cpu_json(Output& output, const CpuTables& tables, Int64 int64);
// One table for all: the first column says whose row it is.
void write_cpu_csv(Output& output, const CpuTables& tables);
// `top` rows of each table.
void write_cpu_text(Output& output, const CpuTables& tables, u64 top);

}  // namespace coldtrace::cli
