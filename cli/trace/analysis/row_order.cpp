#include "cli/trace/analysis/row_order.hpp"

namespace coldtrace::cli {
namespace {

template <class Order>
Option order_option(Command& command, Order& order, const char* help,
                    const std::vector<std::string>& formats) {
  return command
      .add_option_function<std::string>(
          "--sort",
          [&order](const std::string& by) {
            order = by == "count" ? RowOrder::count : RowOrder::time;
          },
          help)
      .one_of({"time", "count"})
      .for_formats(formats);
}

}  // namespace

void add_sort_option(Command& command, RowOrder& order, const char* help,
                     const std::vector<std::string>& formats) {
  order_option(command, order, help, formats).default_str("time");
}

void add_sort_option(Command& command, std::optional<RowOrder>& order, const char* help,
                     const std::vector<std::string>& formats) {
  order_option(command, order, help, formats);
}

}  // namespace coldtrace::cli
