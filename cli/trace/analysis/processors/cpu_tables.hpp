#pragma once

#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/processors/driver_use.hpp"

namespace coldtrace::cli {

// Tables of what used the processors: their rows, the order and the names. Each format (JSON, CSV,
// text) has a file of its own.
struct CpuTables {
  const TraceInput& input;
  const trace_analysis::Observed& observed;
  const trace_analysis::Population& population;
  const SymbolNames& symbols;
  const trace_analysis::ProcessorUse& use;
  const trace_analysis::CodeNames& code;
  TraceTimes times;
  RowOrder order;

  // Indexes of the rows, in order.
  std::vector<u32> processes() const;
  std::vector<u32> threads() const;
  std::vector<u32> modules() const;
  std::vector<u32> functions() const;
  std::vector<u32> routines() const;
  std::vector<trace_analysis::DriverUse> drivers() const;

  // For one of `processors_seen`.
  trace_analysis::ProcessorShare share_of(u16 processor) const;
  trace_analysis::ProcessorSchedule schedule_of(u16 processor) const;

  // In units of 100 ns; null if the trace lacks the events it is computed from.
  std::optional<i64> if_switches(i64 ticks) const;
  std::optional<i64> if_interrupts(i64 ticks) const;
  std::optional<i64> interrupted(const trace_analysis::ThreadUse& thread) const;
  std::optional<i64> difference(const trace_analysis::ThreadUse& thread) const;

  std::optional<std::string_view> module_or_null(u32 module) const;
};

// Whether anything is known of a thread or process.
bool is_used(const trace_analysis::ThreadUse& use);

void write_cpu_json(Output& output, const CpuTables& tables, Int64 int64);
// One table for all: the first column says what a row is about.
void write_cpu_csv(Output& output, const CpuTables& tables);
// `top` rows of each table.
void write_cpu_text(Output& output, const CpuTables& tables, u64 top);

}  // namespace coldtrace::cli
