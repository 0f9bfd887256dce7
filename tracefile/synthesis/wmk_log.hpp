#pragma once

#include "tracefile/synthesis/ctrace_file.hpp"
#include "tracefile/synthesis/machine_log.hpp"

namespace coldtrace::tracefile::synthesis {

// What the Windows Monitoring Kernel logs, by wmk.schema. A wait for several objects is logged as
// one of each: the schema has no word for it.
class WmkLog final : public MachineLog {
 public:
  struct Options {
    bool waits = true;  // else another schema has them
  };

  explicit WmkLog(CtraceFile& file) : WmkLog{file, Options{}} {}
  WmkLog(CtraceFile& file, Options options) : file_{file}, options_{options} {}

  void process_created(const Moment& at, const Process& process) override;
  void process_ended(const Moment& at) override;
  void thread_created(const Moment& at, const Thread& thread) override;
  void thread_ended(const Moment& at) override;
  void switched(const Moment& at, const ContextSwitch& change) override;
  void wait_begun(const Moment& at, const Wait& wait) override;
  void wait_satisfied(const Moment& at, const Thread& waiter, const DispatcherObject& object,
                      u32 status) override;
  void call_entered(const Moment& at, const Service& service,
                    std::span<const u64> arguments) override;
  void call_returned(const Moment& at, const Service& service, u64 status) override;
  void page_fault(const Moment& at, const PageFault& fault) override;

 private:
  void write(const Moment& at, u16 type, const CtraceData& data);

  CtraceFile& file_;
  Options options_;
};

}  // namespace coldtrace::tracefile::synthesis
