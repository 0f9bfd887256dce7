#pragma once

#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"
#include "coldtrace/trace_analysis/requests/file_io.hpp"
#include "coldtrace/trace_analysis/requests/network_io.hpp"

namespace coldtrace::cli {

// pid, process and start; null for nobody.
void write_process_members(JsonWriter& json, const trace_analysis::Population& population,
                           const TraceTimes& times, trace_analysis::Index index);

// Below the rows of a table: "2 more files". Nothing if there are none.
void write_more(Output& output, u64 count, std::string_view one, std::string_view several);

// The requests to file systems.
class FileTables {
 public:
  // All must outlive it.
  FileTables(const trace_analysis::FileIo& files, const trace_analysis::Population& population,
             const TraceTimes& times, RowOrder order)
      : files_{files}, population_{population}, times_{times}, order_{order} {}

  bool empty() const;
  void write_json(JsonWriter& json) const;
  void write_text(Output& output, u64 top) const;

 private:
  i64 weight(const trace_analysis::FileSums& sums) const;
  std::vector<u32> files() const;
  void write_action_lines(Output& output) const;
  void write_sums(JsonWriter& json, const trace_analysis::FileSums& sums) const;

  const trace_analysis::FileIo& files_;
  const trace_analysis::Population& population_;
  const TraceTimes& times_;
  RowOrder order_;
};

// What went over the network.
class NetworkTables {
 public:
  // All must outlive it.
  NetworkTables(const trace_analysis::NetworkIo& network,
                const trace_analysis::Population& population, const TraceTimes& times,
                RowOrder order)
      : network_{network}, population_{population}, times_{times}, order_{order} {}

  bool empty() const { return network_.of_processes().empty(); }
  void write_json(JsonWriter& json) const;
  void write_text(Output& output, u64 top) const;

 private:
  // Bytes: for the network, times are not known.
  u64 weight(const trace_analysis::NetworkSums& sums) const;

  const trace_analysis::NetworkIo& network_;
  const trace_analysis::Population& population_;
  const TraceTimes& times_;
  RowOrder order_;
};

}  // namespace coldtrace::cli
