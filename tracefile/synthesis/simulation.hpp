#pragma once

#include "coldtrace/tracefile/scenario_options.hpp"

namespace coldtrace::tracefile {

// A machine of two processors at 3 GHz whose time goes on as it is told, logging events of the
// built-in schemas.
class Simulation {
 public:
  struct Thread {
    u32 process;
    u32 thread;
    u64 object;  // address of its thread object
  };

  // `schemas` are built-in ones.
  Simulation(std::initializer_list<std::string_view> schemas, u32 flags,
             const ScenarioOptions& options, const CtraceWriter::Sink& sink);

  u64 random(u64 below);
  // Time passes: between one and two times as long.
  void pass(u64 microseconds);
  // The next events are of this processor.
  void on_processor(u16 processor) { processor_ = processor; }

  void log(u16 type, const CtraceData& data);
  void end() { writer_.end(); }

  // --- events of the Windows Monitoring Kernel
  Thread create_process(const Thread& creator, u32 process, std::string_view image);
  Thread create_thread(const Thread& creator, u32 process, u32 thread);
  void end_thread(const Thread& thread);
  void switch_to(const Thread& from, const Thread& to, u8 state, u8 reason);
  void wait(const Thread& thread, u64 object, u8 object_type);
  void satisfy(const Thread& thread, u64 object, u8 object_type);

 private:
  static constexpr u64 start = 133'000'000'000'000'000;  // a day of June 2022
  static constexpr u64 cycles_per_tick = 300;

  static CtraceWriter::Options options_of(std::initializer_list<std::string_view> schemas,
                                          u32 flags, const ScenarioOptions& options);
  void set_clock();

  CtraceWriter writer_;
  u64 state_;      // of the random numbers
  bool has_disk_;  // else buffers wait for the end
  u64 time_ = 0;   // 100 ns since the start
  u64 flushed_ = 0;
  u16 processor_ = 0;
};

}  // namespace coldtrace::tracefile
