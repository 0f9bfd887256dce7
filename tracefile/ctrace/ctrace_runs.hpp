#pragma once

#include <span>

#include "coldtrace/tracefile/ctrace/ctrace_part.hpp"

namespace coldtrace::tracefile {

// Why two files are not of one machine since one boot, as their headers have it.
std::optional<std::string> find_run_mismatch(const CtraceHeader& one, const CtraceHeader& other);

// Why the stamps of two files, whose headers are of one run, are not those of one counter.
std::optional<std::string> find_counter_mismatch(const CtracePart& one, const CtracePart& other);

// Says of each part of which run it is, and numbers the processors of runs apart. Nothing where
// that is done, else what stands against it; only with `force` there is more than one run.
std::optional<std::string> number_runs(std::span<CtracePart> parts, bool force,
                                       core::Findings& findings);

}  // namespace coldtrace::tracefile
