#include "cli/trace/analysis/row_order.hpp"

namespace coldtrace::cli {

void add_sort_option(Command& command, RowOrder& order, const char* help,
                     const std::vector<std::string>& formats) {
  command
      .add_option_function<std::string>(
          "--sort",
          [&order](const std::string& by) {
            order = by == "count" ? RowOrder::count : RowOrder::time;
          },
          help)
      .one_of({"time", "count"})
      .default_str("time")
      .for_formats(formats);
}

}  // namespace coldtrace::cli
