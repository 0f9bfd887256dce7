#pragma once

#include "cli/trace/analysis/row_order.hpp"
#include "cli/trace/analysis/services/service_figures.hpp"
#include "cli/trace/analysis/services/service_names.hpp"

namespace coldtrace::cli {

// VxDMon's main window, and those it opens for a service, as lines of columns.
class ServiceText {
 public:
  // All must outlive it.
  ServiceText(const trace_analysis::Services& services, const ServiceNames& names,
              const ServiceFigures& figures, RowOrder order, Output& output)
      : services_{services}, names_{names}, figures_{figures}, order_{order}, output_{output} {}

  // The first `top` of the chosen services.
  void write_table(const std::vector<u32>& chosen, u64 top);
  // What each of them calls and is called by, directly and indirectly, and how long its calls took.
  void write_trees(const std::vector<u32>& chosen, u64 top, u64 depth);
  // Each period with calls of the chosen services, and the first `top` of these. All periods, or
  // `only` that one.
  void write_periods(const std::vector<u32>& chosen, std::optional<u64> only, u64 top);

 private:
  void write_tree(std::string_view title, u32 number, u64 depth,
                  u32 trace_analysis::CallEdge::*from, u32 trace_analysis::CallEdge::*to);
  void write_branches(std::vector<u32>& path, u64 depth, std::size_t& room,
                      u32 trace_analysis::CallEdge::*from, u32 trace_analysis::CallEdge::*to);
  std::string label(u32 number) const { return names_.label(services_.services()[number]); }

  const trace_analysis::Services& services_;
  const ServiceNames& names_;
  const ServiceFigures& figures_;
  RowOrder order_;
  Output& output_;
};

}  // namespace coldtrace::cli
