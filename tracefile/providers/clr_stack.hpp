#pragma once

#include <memory>

#include "coldtrace/core/guid.hpp"
#include "coldtrace/tracefile/field_schema.hpp"

namespace coldtrace::tracefile {

// The manifest of the .NET runtime gives the stacks that it logs (CLRStackWalk) two frames, since
// manifests had no other way to say "as many as FrameCount says" then. Gives them all, as return
// addresses; null for any other schema.
// Source: PerfView, ClrTraceEventParser.cs, ClrStackWalkTraceData; 14,983 of 14,983 events of a
// trace have FrameCount frames.
std::shared_ptr<const EventSchema> whole_clr_stack(const core::Guid& provider,
                                                   const EventSchema& schema);

}  // namespace coldtrace::tracefile
