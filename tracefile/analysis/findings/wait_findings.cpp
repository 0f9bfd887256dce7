#include "coldtrace/trace_analysis/findings/wait_findings.hpp"

#include "coldtrace/core/text.hpp"
#include "coldtrace/trace_analysis/waits/path_window.hpp"

namespace coldtrace::trace_analysis {

void note_critical_path(const CriticalPath& path, std::span<const Hop> hops,
                        const TraceTimes& times, core::Findings& findings) {
  if (const auto before = path.given_up_before())
    findings.warning(
        "window-cut", std::nullopt,
        "the interval has more than {} turns of threads: what happened before {} is unknown",
        CriticalPath::most_turns, times.since_start(*before));
  if (path.interrupts_given_up() > 0)
    findings.info("interrupts-cut", std::nullopt,
                  "the interval has more DPCs than are kept: the oldest {} are not named",
                  path.interrupts_given_up());
  if (const auto unknown = unknown_time(hops); unknown > 0)
    findings.info(
        "path-unproved", std::nullopt,
        "{} s of the path is unknown: events there are missing, begin later or were not kept",
        times.seconds(unknown));
}

bool any_wait(const WaitEvidence& evidence) {
  const auto& [graph, stated, locks, requests, files, kinds] = evidence;
  return graph.get().names_objects() || !graph.get().wakes().edges().empty() ||
         !stated.get().edges().empty() || !locks.get().edges().empty() ||
         !requests.get().edges().empty() || !files.get().edges().empty() ||
         !kinds.get().edges().empty();
}

void note_wait_graph(const WaitEvidence& evidence, core::Findings& findings) {
  const auto& [graph, stated, locks, requests, files, kinds] = evidence;
  const auto left_out = graph.get().left_out() + graph.get().wakes().left_out() +
                        stated.get().left_out() + locks.get().left_out() +
                        requests.get().left_out() + files.get().left_out();
  if (left_out > 0)
    findings.warning("wait-limit", std::nullopt,
                     "{} left out: the trace has more objects, or pairs of a thread and what it "
                     "waited for, than are kept",
                     core::counted(left_out, "wait is", "waits are"));
  if (const auto cut = kinds.get().stacks().cut(); cut > 0)
    findings.warning(
        "stacks-cut", std::nullopt, "{} about waits may be missing",
        core::counted(cut, "stack exceeds the depth or number that is kept: what it says",
                      "stacks exceed the depth or number that is kept: what they say"));
  if (any_wait(evidence) && !graph.get().names_objects())
    findings.info("wait-unnamed", std::nullopt,
                  "the trace does not name what threads waited for, only who made them ready");
}

}  // namespace coldtrace::trace_analysis
