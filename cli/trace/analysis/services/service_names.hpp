#pragma once

#include "cli/trace/lines/system_call_names.hpp"
#include "coldtrace/trace_analysis/records/event_pairs.hpp"
#include "coldtrace/trace_analysis/services/services.hpp"

namespace coldtrace::cli {

// The names of services in answers.
class ServiceNames {
 public:
  // All must outlive it. `code` is that of `services`; without `calls`, system calls have numbers;
  // without `pairs`, the trace was not searched for any.
  ServiceNames(const trace_analysis::Services& services, const trace_analysis::CodeNames& code,
               const SystemCallNames* calls = nullptr,
               const trace_analysis::EventPairs* pairs = nullptr)
      : services_{services}, code_{code}, calls_{calls}, pairs_{pairs} {}

  // Empty if nothing is known.
  std::string find(const trace_analysis::ServiceSums& one) const;

  // "NtClose", or what is known: "system call 0x12", "VxD 64 service 50", "DPC 0xfffff80001003000".
  // As in the trace, and for text.
  std::string name(const trace_analysis::ServiceSums& one) const;
  std::string label(const trace_analysis::ServiceSums& one) const;

  // Path of the image with the routine or handler; empty if not known.
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
