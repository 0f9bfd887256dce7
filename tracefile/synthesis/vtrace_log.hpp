#pragma once

#include "tracefile/synthesis/ctrace_file.hpp"
#include "tracefile/synthesis/machine_log.hpp"

namespace coldtrace::tracefile::synthesis {

// What VTrace logs, by vtrace.schema: requests pass its file system filter, then its disk filter.
class VtraceLog final : public MachineLog {
 public:
  struct Options {
    bool waits_alone = false;  // another schema has the rest
  };

  explicit VtraceLog(CtraceFile& file) : VtraceLog{file, Options{}} {}
  VtraceLog(CtraceFile& file, Options options) : file_{file}, options_{options} {}

  void process_created(const Moment& at, const Process& process) override;
  void process_ended(const Moment& at) override;
  void thread_created(const Moment& at, const Thread& thread) override;
  void thread_ended(const Moment& at) override;
  void switched(const Moment& at, const ContextSwitch& change) override;
  void wait_begun(const Moment& at, const Wait& wait) override;
  void wait_ended(const Moment& at, u32 status) override;
  void disk_requested(const Moment& at, const DiskRequest& request) override;
  void disk_completed(const Moment& at, const DiskRequest& request) override;
  void key_pressed(const Moment& at, std::span<const std::byte, 8> encrypted) override;
  void message_sent(const Moment& at, const Message& message) override;

 private:
  void write(const Moment& at, u16 type, const CtraceData& data);
  void name_user(const Moment& at);

  CtraceFile& file_;
  Options options_;
  bool user_named_ = false;
};

}  // namespace coldtrace::tracefile::synthesis
