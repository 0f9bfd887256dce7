#pragma once

#include "cli/output/text_charts.hpp"
#include "cli/trace/analysis/analysis_input.hpp"
#include "cli/trace/analysis/services/service_names.hpp"
#include "cli/trace/analysis/top/top_sections.hpp"
#include "coldtrace/trace_analysis/processors/driver_use.hpp"
#include "coldtrace/trace_analysis/processors/processor_use.hpp"
#include "coldtrace/trace_analysis/processors/time_bins.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"
#include "coldtrace/trace_analysis/requests/file_io.hpp"
#include "coldtrace/trace_analysis/requests/network_io.hpp"
#include "coldtrace/trace_analysis/scheduling/longest_waits.hpp"
#include "coldtrace/trace_analysis/waits/deadlocks.hpp"

namespace coldtrace::cli {

// The answers that one page is made of.
struct TopAnswers {
  const trace_analysis::ProcessorUse& use;
  const trace_analysis::CodeNames& code;
  const trace_analysis::LongestWaits& waits;
  const trace_analysis::Deadlocks& deadlocks;
  const trace_analysis::DiskIo& disk;
  const trace_analysis::FileIo& files;
  const trace_analysis::NetworkIo& network;
  const trace_analysis::Services& services;
};

// The first rows of a table, and how many others there are.
template <class Row>
struct TopRows {
  std::vector<Row> rows;
  u64 more = 0;
};

// What a page tells, for people and for programs alike: the rows are chosen, in order, and cut.
// Times are ticks.
struct TopPage {
  // As the trace's header has it; nothing where that is lost.
  struct Machine {
    std::string windows_version;
    u64 processors, pointer_size;
    u64 events_lost, buffers_lost;
  };
  // Without idle threads. Of nobody: of threads whose process the trace does not tell.
  struct ProcessTime {
    trace_analysis::Index process;
    i64 running = 0, sampled = 0;
  };
  struct Processors {
    u64 count = 0;
    i64 busy = 0, idle = 0, unknown = 0;  // of all, by switches
    i64 sampled_idle = 0;
    TopRows<ProcessTime> processes;
    TopRows<trace_analysis::DriverUse> drivers;
  };
  template <class Sums>
  struct Requests {
    TopRows<std::pair<trace_analysis::Index, const Sums*>> processes;
    TopRows<std::pair<u32, const Sums*>> files;  // by number
  };
  struct BusiestDisk {
    std::optional<u32> number;
    i64 busy = 0;
  };
  using NetworkRow = std::pair<trace_analysis::Index, const trace_analysis::NetworkSums*>;
  using ServiceRow = const trace_analysis::ServiceSums*;

  TopPage(const tracefile::AnyTrace& trace, const trace_analysis::Population& population,
          const TopAnswers& answers, u64 top);

  // Whether the trace has anything of it.
  bool has(Topic topic) const { return has_[static_cast<std::size_t>(topic)]; }
  // Neither that nor a process or thread.
  bool empty() const;

  std::optional<Machine> machine;
  Processors processors;
  Requests<trace_analysis::DiskSums> disk;
  std::optional<BusiestDisk> busiest_disk;
  Requests<trace_analysis::FileSums> files;
  TopRows<NetworkRow> network;
  TopRows<trace_analysis::LongWait> waits;
  u64 lasting_deadlocks = 0;     // to the end of the trace
  TopRows<ServiceRow> services;  // the longest call first

 private:
  std::array<bool, static_cast<std::size_t>(Topic::count)> has_{};
  bool has_population_ = false;
};

// What both renderings of a page need.
struct TopContext {
  const TraceInput& input;
  const trace_analysis::Observation& observation;
  const TopAnswers& answers;
  const TopPage& page;
};

// What is drawn beside the text.
struct TopCharts {
  const TextCharts& charts;
  const trace_analysis::TimeBins* busy;  // of all processors together; null: not drawn
};

std::string top_text(const TopContext& context, const TopCharts& charts);
void write_top_json(Output& output, const TopContext& context, Int64 int64);

}  // namespace coldtrace::cli
