#pragma once

#include <set>
#include <string>

#include "coldtrace/tracefile/ctrace/ctrace_scan.hpp"

namespace coldtrace::tracefile {

// One of the files of a trace.
struct CtracePart {
  std::string name;
  const core::ImageSource* source;
  CtraceHeader header;
  CtraceScan scan{};
  u64 pairs = 0;
  // Parts of one run of one machine have one clock for each processor; those of others have
  // processors of their own, whose numbers are added to this.
  u16 run = 0;
  u16 first_processor = 0;
  // Where this part has the first buffer of its session that is left of a processor, and older ones
  // are not there any more.
  std::set<u16> begins_late;

  [[nodiscard]] u16 cpu_of(u16 processor) const {
    return static_cast<u16>(first_processor + processor);
  }
};

// Where the buffers of a processor in one session begin; each names the next.
struct CtraceChain {
  u16 part;
  u16 processor;
  u64 first_buffer;  // index in the part
};

}  // namespace coldtrace::tracefile
