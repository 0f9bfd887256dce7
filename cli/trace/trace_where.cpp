#include "cli/trace/trace_where.hpp"

#include "cli/output/where_error.hpp"

namespace coldtrace::cli {

std::optional<tracefile::WhereExpression> read_where(std::string_view option,
                                                     std::string_view text) {
  auto where = tracefile::parse_where(text);
  if (where) return std::move(*where);
  say_where_error(option, text, where.error());
  return std::nullopt;
}

}  // namespace coldtrace::cli
