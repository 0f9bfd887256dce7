#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/trace/lines/trace_lines.hpp"
#include "coldtrace/tracefile/where/event_lines.hpp"

namespace coldtrace::cli {

// The expression that an option was given, or nothing once it was said what is wrong with it: line
// and column, and a caret below the place. What only lines show is that of LineMembers without
// files.
std::optional<tracefile::WhereExpression> read_where(std::string_view option,
                                                     std::string_view text);

// The context of lines of a trace's events, of which nothing is named by files beside it.
TraceContext trace_context_of(const tracefile::EventContext& context);

// What --where asks of whole lines. Objects of `stack` are known however stacks are shown, and
// names are as they are, whether hashed or not.
class LineMembers final : public tracefile::EventLines {
 public:
  // Both may be null; they must outlive the object.
  LineMembers(const SystemCallNames* calls, trace_analysis::FunctionNames* functions)
      : calls_{calls}, functions_{functions} {}

  std::unique_ptr<tracefile::EventLineReader> open(
      const tracefile::EventContext& context) const override;

 private:
  const SystemCallNames* calls_;
  trace_analysis::FunctionNames* functions_;
};

}  // namespace coldtrace::cli
