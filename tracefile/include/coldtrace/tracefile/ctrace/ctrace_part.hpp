#pragma once

#include <set>
#include <span>
#include <string>

#include "coldtrace/core/result.hpp"
#include "coldtrace/tracefile/ctrace/ctrace_scan.hpp"

namespace coldtrace::tracefile {

// One of the files of a trace.
struct CtracePart {
  std::string name;
  const core::ImageSource* source;
  CtraceHeader header;
  CtraceScan scan{};
  u64 pairs = 0;
  // Parts from one boot of one machine share one clock for each processor; those of another boot
  // have processors of their own, to whose numbers `first_processor` is added.
  u16 run = 0;
  u16 first_processor = 0;
  // Processors for which this part has the first buffer of its session that is left, while older
  // ones are gone.
  std::set<u16> begins_late;

  [[nodiscard]] u16 cpu_of(u16 processor) const {
    return static_cast<u16>(first_processor + processor);
  }
};

// The ntdll.dll that all files of a trace name: system call numbers mean the services of one build.
// Fails with a sentence if two files name different ones.
[[nodiscard]] core::Expected<TracedImage, std::string> find_common_ntdll(
    std::span<const CtracePart> parts);

// Where the buffers of a processor in one session begin; each names the next.
struct CtraceChain {
  u16 part;
  u16 processor;
  u64 first_buffer;  // index in the part
};

}  // namespace coldtrace::tracefile
