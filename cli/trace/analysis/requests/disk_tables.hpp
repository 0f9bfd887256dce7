#pragma once

#include "cli/layout/text_table.hpp"
#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/thread_names.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"

namespace coldtrace::cli {

// "normal"; the number if it has no name.
std::string priority_text(u8 priority);

// The requests to disks.
class DiskTables {
 public:
  // All must outlive it.
  DiskTables(const trace_analysis::DiskIo& disk, const trace_analysis::Population& population,
             const TraceTimes& times, RowOrder order)
      : disk_{disk}, population_{population}, times_{times}, order_{order} {}

  // An object.
  void write_json(JsonWriter& json) const;
  // `top` rows of each table.
  void write_text(Output& output, u64 top) const;

 private:
  // The sort key of rows.
  i64 weight(const trace_analysis::DiskSums& sums) const;
  // Indexes of those with requests.
  std::vector<u32> files() const;

  void write_counts(JsonWriter& json) const;
  void write_sums(JsonWriter& json, const trace_analysis::DiskSums& sums) const;
  void write_file(JsonWriter& json, u32 number) const;
  void write_thread(JsonWriter& json, trace_analysis::Index index) const;
  void write_histogram(JsonWriter& json, std::string_view name,
                       const trace_analysis::Histogram& histogram, bool is_time) const;
  void write_open(JsonWriter& json) const;

  using TextRow = std::pair<std::string, const trace_analysis::DiskSums*>;
  void write_summary(Output& output) const;
  void write_requests(Output& output, u64 top) const;
  bool has_other_requests() const;
  bool has_untimed() const;
  TextTable begin_table(Output& output, std::string_view what) const;
  void add(TextTable& table, std::string label, const trace_analysis::DiskSums& sums) const;
  void write_table(Output& output, u64 top, const std::vector<TextRow>& rows, std::string_view one,
                   std::string_view several) const;
  void write_open(Output& output, u64 top) const;
  std::string thread_text(trace_analysis::Index index) const;
  std::string file_text(u32 number) const;
  std::string percentile_text(const trace_analysis::DiskSums& sums, unsigned percent) const;

  i64 duration(i64 ticks) const { return times_.duration(ticks); }

  const trace_analysis::DiskIo& disk_;
  const trace_analysis::Population& population_;
  const TraceTimes& times_;
  RowOrder order_;
};

}  // namespace coldtrace::cli
