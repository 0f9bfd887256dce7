#pragma once

#include "cli/trace/lines/system_call_names.hpp"
#include "coldtrace/trace_analysis/records/event_pairs.hpp"
#include "coldtrace/trace_analysis/services/services.hpp"

namespace coldtrace::cli {

// How answers name services.
class ServiceNames {
 public:
  // All must outlive it. `code` is that of `services`; without `calls` system calls have numbers,
  // without `pairs` the trace was searched for none.
  ServiceNames(const trace_analysis::Services& services, const trace_analysis::CodeNames& code,
               const SystemCallNames* calls = nullptr,
               const trace_analysis::EventPairs* pairs = nullptr)
      : services_{services}, code_{code}, calls_{calls}, pairs_{pairs} {}

  // Empty when nothing is known.
  std::string find(const trace_analysis::ServiceSums& one) const;

  // "NtClose", or what there is: "system call 0x12", "VxD 64 service 50", "DPC 0xfffff80001003000".
  // As the trace has it, and for text.
  std::string name(const trace_analysis::ServiceSums& one) const;
  std::string label(const trace_analysis::ServiceSums& one) const;

  // Path of the image that has the routine or handler; empty when none is known.
  std::string_view module(const trace_analysis::ServiceSums& one) const {
    return code_.modules()[one.code.module];
  }

 private:
  const trace_analysis::Services& services_;
  const trace_analysis::CodeNames& code_;
  const SystemCallNames* calls_;
  const trace_analysis::EventPairs* pairs_;
};

}  // namespace coldtrace::cli
