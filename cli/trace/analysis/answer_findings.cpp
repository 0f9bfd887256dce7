#include "cli/trace/analysis/answer_findings.hpp"

#include "cli/trace/analysis/switch_findings.hpp"

namespace coldtrace::cli {

void note_processor_use(const trace_analysis::ProcessorUse& use,
                        const trace_analysis::CodeNames& code, core::Findings& findings) {
  note_overlaps(use.schedule().turns().counts(), findings);
  if (const auto firsts = use.total().all.firsts; firsts > 0)
    findings.info("sample-interval", std::nullopt,
                  "{} samples are the first of their processor, and no event says how long the "
                  "interval between samples is: they have no time",
                  firsts);
  note_code(code.left_out() + use.counts().left_out_routines, findings);
}

void note_code(u64 left_out, core::Findings& findings) {
  if (left_out > 0)
    findings.warning("function-limit", std::nullopt,
                     "{} addresses of samples, interrupts and stacks are in functions beyond those "
                     "that are kept, and are counted as others",
                     left_out);
}

void note_services(const trace_analysis::Services& services, core::Findings& findings) {
  if (services.without_thread() > 0)
    findings.info("call-without-thread", std::nullopt,
                  "{} calls and returns are of threads that no context switch names",
                  services.without_thread());
}

void note_deadlocks(const trace_analysis::Deadlocks& deadlocks, core::Findings& findings) {
  if (deadlocks.reached_limit())
    findings.warning("deadlock-limit", std::nullopt,
                     "the trace has more objects, orders of mutants, deadlocks or threads behind "
                     "each other than are looked at: some may be missing");
  if (deadlocks.passing() > 0)
    findings.info("deadlock-unproved", std::nullopt,
                  "{} cycles of waits were gone before each of their threads was seen to leave its "
                  "processor, and are not listed",
                  deadlocks.passing());
  if (!deadlocks.names_objects() && deadlocks.any_switch())
    findings.info("wait-unnamed", std::nullopt,
                  "the trace does not name what threads waited for: deadlocks cannot be proved");
}

}  // namespace coldtrace::cli
