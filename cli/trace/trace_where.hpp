#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/trace/lines/trace_lines.hpp"
#include "coldtrace/tracefile/where/event_lines.hpp"

namespace coldtrace::cli {

// The expression given to an option; nothing, with a message, if it is invalid: line and column,
// and a caret below the place. What only lines show is that of LineMembers without files.
std::optional<tracefile::WhereExpression> read_where(std::string_view option,
                                                     std::string_view text);

// The context for lines of a trace's events, without names from other files.
TraceContext trace_context_of(const tracefile::EventContext& context);

// What --where can ask about whole lines. Objects of `stack` are known however stacks are shown,
// and names are the original ones, even if lines have hashed ones.
class LineMembers final : public tracefile::EventLines {
 public:
  // Both may be null; otherwise they must outlive the object.
  LineMembers(const SystemCallNames* calls, trace_analysis::FunctionNames* functions)
      : calls_{calls}, functions_{functions} {}

  std::unique_ptr<tracefile::EventLineReader> open(
      const tracefile::EventContext& context) const override;

 private:
  const SystemCallNames* calls_;
  trace_analysis::FunctionNames* functions_;
};

}  // namespace coldtrace::cli
