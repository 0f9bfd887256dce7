#pragma once

#include "coldtrace/core/integers.hpp"

namespace coldtrace::trace_export {

// Numbers of events in a trace of CTF, in the order in which ctf_metadata.cpp declares them. Those
// of processors have the names and fields of LTTng's kernel tracer, and so has `waking`, which is
// of no known processor.
enum class CtfEvent : u16 {
  sched_switch,
  sched_waking,
  process_state,
  process_exit,
  irq_entry,
  irq_exit,
  softirq_entry,
  softirq_exit,
  call,
  disk_request,
  file_operation,
  region,
  waking,
};

}  // namespace coldtrace::trace_export
