#pragma once

#include <map>

#include "tracefile/synthesis/ctrace_file.hpp"
#include "tracefile/synthesis/machine_log.hpp"

namespace coldtrace::tracefile::synthesis {

// What callbacks of Windows 10 19H1 see, by dynamic_tracing.schema: services that are traced by
// name.
class DynamicTracingLog final : public MachineLog {
 public:
  explicit DynamicTracingLog(CtraceFile& file) : file_{file} {}

  void call_entered(const Moment& at, const Service& service,
                    std::span<const u64> arguments) override;
  void call_returned(const Moment& at, const Service& service, u64 status) override;

 private:
  CtraceFile& file_;
};

// What VxDMon sees, by vxdmon.schema: of a service's number the high half is the VxD's.
class VxdmonLog final : public MachineLog {
 public:
  explicit VxdmonLog(CtraceFile& file) : file_{file} {}

  void call_entered(const Moment& at, const Service& service,
                    std::span<const u64> arguments) override;
  void call_returned(const Moment& at, const Service& service, u64 status) override;

 private:
  struct Call {
    u32 service;
    u64 entered;
  };
  CtraceData data_of(const Thread& thread, const Service& service) const;

  CtraceFile& file_;
  std::map<const Thread*, std::vector<Call>> calls_;  // the innermost last
};

}  // namespace coldtrace::tracefile::synthesis
