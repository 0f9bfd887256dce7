#pragma once

#include <map>
#include <tuple>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/trace_analysis/processors/interruptions.hpp"
#include "coldtrace/trace_analysis/processors/sample_weights.hpp"
#include "coldtrace/trace_analysis/records/code_names.hpp"
#include "coldtrace/trace_analysis/scheduling/schedule.hpp"

namespace coldtrace::trace_analysis {

// What samples say; those in DPCs and ISRs are also in `all`. An ISR inside a DPC counts as an ISR.
struct SampledUse {
  SampleSum all, in_dpc, in_isr;

  void add(const SampledUse& other);
};

// Of a thread or process, by samples and by switches.
struct ThreadUse {
  SampledUse sampled;
  u64 turns = 0;
  i64 running = 0;      // ticks, including what interrupted it
  i64 interrupted = 0;  // of `running`, by DPCs and ISRs

  void add(const ThreadUse& other);
};

// What one processor did.
struct ProcessorShare {
  SampledUse sampled;
  SampleSum sampled_idle;  // of its idle thread
  i64 in_dpc = 0;  // ticks, by the events of DPCs and ISRs, each without what interrupted it
  i64 in_isr = 0;
};

// What a routine of interrupts cost.
struct RoutineUse {
  Service routine;
  CodeNames::Code code;  // the driver that has it
  u64 runs = 0;
  u64 untimed = 0;    // events may be missing between begin and end
  i64 inclusive = 0;  // ticks
  i64 exclusive = 0;  // without what interrupted it
};

// What processors did, in two ways: by samples, and by the switches between threads. A trace may
// lack either. DPCs and ISRs count for the thread that they interrupt, and also for their driver.
class ProcessorUse final : public Analysis {
 public:
  // All must outlive the analysis.
  ProcessorUse(core::Borrowed<tracefile::Clock> clock,
               core::Borrowed<tracefile::SamplingIntervals> intervals, CodeNames& code)
      : schedule_{[this](const Turn& turn) { end_turn(turn); }},
        weights_{clock, intervals},
        code_{code} {}
  ProcessorUse(const ProcessorUse&) = delete;
  ProcessorUse& operator=(const ProcessorUse&) = delete;

  struct Counts {
    u64 low_power = 0;          // samples of processors in a low power state
    u64 threadless = 0;         // samples of no known thread
    u64 left_out_routines = 0;  // interrupts of routines beyond those that are kept
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::optional<u32> interval() const {
    return weights_.interval();
  }  // units of 100 ns

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] bool has_switches() const { return schedule_.turns().counts().switches > 0; }
  [[nodiscard]] bool has_interrupts() const { return !routines_.empty(); }
  [[nodiscard]] u64 contradictory_interrupts() const { return interruptions_.contradictory(); }
  [[nodiscard]] bool has_samples() const { return total_.all.samples > 0; }
  // How much more time samples show than switches, in ticks, if a trace has both.
  [[nodiscard]] std::optional<i64> difference(const ThreadUse& use) const;

  // By number: those with samples or interrupts.
  [[nodiscard]] const std::map<u16, ProcessorShare>& processors() const { return processors_; }
  // Numbers of processors with switches, samples or interrupts, in their order.
  [[nodiscard]] std::vector<u16> processors_seen() const;

  // By index; those beyond the end have nothing.
  [[nodiscard]] const SampledUse& total() const { return total_; }
  [[nodiscard]] const std::vector<ThreadUse>& threads() const { return threads_; }
  [[nodiscard]] const std::vector<ThreadUse>& processes() const { return processes_; }
  [[nodiscard]] const ThreadUse& unknown_process() const { return unknown_process_; }
  [[nodiscard]] const std::vector<SampledUse>& modules() const { return modules_; }
  [[nodiscard]] const std::vector<SampledUse>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<RoutineUse>& routines() const {
    return routines_;
  }  // as they came

  void begin(const Observed& observed) override;
  void on_switch(const ContextSwitch& record) override;
  void on_ready(const Readied& record) override { schedule_.on_ready(record); }
  void on_thread(const ThreadRecord& record) override { schedule_.on_thread(record); }
  void on_interruption(const Interruption& record) override;
  void on_sample(const Sample& record) override;
  void finish(const Observed& observed) override;

 private:
  static constexpr std::size_t most_routines = std::size_t{1} << 16U;
  // Including its module and function: addresses are reused.
  using RoutineKey = std::tuple<Service, u32, u32>;

  RoutineUse* find_routine(const Interruption& record);
  void end_turn(const Turn& turn);
  void sum_up_processes();

  Schedule schedule_;
  SampleWeights weights_;
  Interruptions interruptions_;
  CodeNames& code_;
  const Population* population_ = nullptr;
  Counts counts_;
  SampledUse total_;
  ThreadUse unknown_process_;
  std::vector<ThreadUse> threads_, processes_;
  std::map<u16, ProcessorShare> processors_;
  std::vector<SampledUse> modules_, functions_;
  std::vector<i64> interrupted_;  // since the last switch, by processor
  std::vector<RoutineUse> routines_;
  std::map<RoutineKey, u32> routine_numbers_;
};

}  // namespace coldtrace::trace_analysis
