#include "cli/report/trace/report_answers.hpp"

#include "coldtrace/trace_analysis/records/ticks.hpp"

namespace coldtrace::cli {

i64 ReportAnswers::moment(i64 time) const {
  const auto first = observed.first.value_or(0);
  return time < first ? -duration(trace_analysis::ticks_between(time, first))
                      : duration(trace_analysis::ticks_between(first, time));
}

}  // namespace coldtrace::cli
