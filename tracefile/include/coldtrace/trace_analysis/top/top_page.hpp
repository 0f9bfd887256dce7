#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/findings/logging_needs.hpp"
#include "coldtrace/trace_analysis/processors/driver_use.hpp"
#include "coldtrace/trace_analysis/processors/processor_use.hpp"
#include "coldtrace/trace_analysis/records/row_order.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"
#include "coldtrace/trace_analysis/requests/file_io.hpp"
#include "coldtrace/trace_analysis/requests/network_io.hpp"
#include "coldtrace/trace_analysis/scheduling/longest_waits.hpp"
#include "coldtrace/trace_analysis/services/services.hpp"
#include "coldtrace/trace_analysis/waits/deadlocks.hpp"

namespace coldtrace::trace_analysis {

// The answers that one page is made of, from the same events.
struct TopAnswers {
  core::Borrowed<ProcessorUse> use;
  core::Borrowed<CodeNames> code;
  core::Borrowed<LongestWaits> waits;
  core::Borrowed<Deadlocks> deadlocks;
  core::Borrowed<DiskIo> disk;
  core::Borrowed<FileIo> files;
  core::Borrowed<NetworkIo> network;
  core::Borrowed<Services> services;
};

// The first rows of a table, and how many others there are.
template <class Row>
struct TopRows {
  std::vector<Row> rows;
  u64 more = 0;
};

// What uses a machine most, on one page: rows are selected, sorted and cut. Of equal rows, the one
// with the lower number comes first. Times are ticks. Rows point into the answers.
struct TopPage {
  // As in the trace's header; nothing if that is lost.
  struct Machine {
    std::optional<std::string> windows_version;  // "10.0.19045"; nothing where none is stated
    u64 processors;
    u64 pointer_size;  // bytes
  };
  // Without idle threads. Of nobody: of threads whose process the trace does not name.
  struct ProcessTime {
    Index process;
    i64 running = 0, sampled = 0;
    u64 turns = 0, samples = 0;
  };
  struct Processors {
    u64 count = 0;
    i64 busy = 0, idle = 0, unknown = 0;  // of all, by switches
    i64 sampled_idle = 0;
    // By switches, or by samples where there are none; or by the number of samples, then of turns.
    TopRows<ProcessTime> processes;
    TopRows<DriverUse> drivers;  // by the time or the number of their DPCs and ISRs

    // Of all, by switches: the time from the first event to the last, once for each.
    [[nodiscard]] i64 time() const;
  };
  // Those that took longest come first, or those with most requests.
  template <class Sums>
  struct Requests {
    TopRows<std::pair<Index, const Sums*>> processes;
    TopRows<std::pair<u32, const Sums*>> files;  // by number
  };
  // Of those that had requests for equally long, the one with the lowest number.
  struct BusiestDisk {
    std::optional<u32> number;
    i64 busy = 0;
  };
  using NetworkRow = std::pair<Index, const NetworkSums*>;
  using ServiceRow = const ServiceSums*;

  // `top`: the most rows of each table; by time, twice that for services.
  TopPage(const tracefile::AnyTrace& trace, const Population& population, const TopAnswers& answers,
          u64 top, RowOrder order = RowOrder::time);

  // Whether the trace has anything on it.
  [[nodiscard]] bool has(Topic topic) const { return has_[static_cast<std::size_t>(topic)]; }
  // Whether it has nothing on any topic, and no process or thread.
  [[nodiscard]] bool empty() const;

  std::optional<Machine> machine;
  tracefile::LostCount events_lost, buffers_lost;
  Processors processors;
  Requests<DiskSums> disk;
  std::optional<BusiestDisk> busiest_disk;
  Requests<FileSums> files;
  FileSums file_operations;     // all together
  TopRows<NetworkRow> network;  // by the bytes that they moved, or by how often
  TopRows<LongWait> waits;      // the longest first: each is one wait
  u64 lasting_deadlocks = 0;    // to the end of the trace
  // Those with the longest calls, and those whose calls took longest in total; the longest call
  // first. Or those with most calls.
  TopRows<ServiceRow> services;

 private:
  std::array<bool, topics.size()> has_{};
  bool has_population_ = false;
};

}  // namespace coldtrace::trace_analysis
