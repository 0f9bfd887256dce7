#include "coldtrace/trace_analysis/processors/processor_use.hpp"

#include <algorithm>

#include "coldtrace/trace_analysis/records/ticks.hpp"
#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {

void SampledUse::add(const SampledUse& other) {
  all.add(other.all);
  in_dpc.add(other.in_dpc);
  in_isr.add(other.in_isr);
}

void ThreadUse::add(const ThreadUse& other) {
  sampled.add(other.sampled);
  turns += other.turns;
  add_ticks(running, other.running);
  add_ticks(interrupted, other.interrupted);
}

std::optional<i64> ProcessorUse::difference(const ThreadUse& use) const {
  if (!has_samples() || !has_switches()) return std::nullopt;
  return use.sampled.all.time - use.running;
}

std::vector<u16> ProcessorUse::processors_seen() const {
  std::vector<u16> numbers;
  for (const auto& [number, one] : schedule_.processors()) numbers.push_back(number);
  for (const auto& [number, one] : processors_)
    if (!schedule_.processors().contains(number)) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void ProcessorUse::begin(const Observed& observed) {
  population_ = &observed.population;
  schedule_.begin(observed);
  weights_.begin(observed);
  interruptions_.begin(observed);
}

void ProcessorUse::on_switch(const ContextSwitch& record) {
  schedule_.on_switch(record);
  interruptions_.on_switch(record);
  // One from a thread to itself ends no turn.
  if (record.old_thread != record.new_thread || !record.continues)
    grown(interrupted_, *record.moment.cpu) = 0;
}

void ProcessorUse::end_turn(const Turn& turn) {
  if (!turn.end) return;
  const auto most = ticks_between(turn.begin, *turn.end);
  add_ticks(grown(threads_, turn.thread).interrupted,
            std::min(most, grown(interrupted_, turn.cpu)));
}

RoutineUse* ProcessorUse::find_routine(const Interruption& record) {
  const auto code = code_.find(std::nullopt, record.routine.number, record.moment.time);
  const RoutineKey key{record.routine, code.module, code.function};
  if (const auto known = routine_numbers_.find(key); known != routine_numbers_.end())
    return &routines_[known->second];
  if (routines_.size() == most_routines) return nullptr;
  routine_numbers_.emplace(key, static_cast<u32>(routines_.size()));
  return &routines_.emplace_back(RoutineUse{.routine = record.routine, .code = code});
}

void ProcessorUse::on_interruption(const Interruption& record) {
  const auto cpu = *record.moment.cpu;
  auto& processor = processors_[cpu];
  const auto cost = interruptions_.cost_of(record);
  auto* const use = find_routine(record);
  if (use == nullptr)
    ++counts_.left_out_routines;
  else if (!cost)
    ++use->untimed;
  else
    ++use->runs;
  if (!cost) return;
  if (use != nullptr) {
    add_ticks(use->inclusive, cost->inclusive);
    add_ticks(use->exclusive, cost->exclusive);
  }
  const bool in_isr = record.routine.kind == Service::Kind::isr;
  add_ticks(in_isr ? processor.in_isr : processor.in_dpc, cost->exclusive);
  add_ticks(grown(interrupted_, cpu), cost->exclusive);
}

void ProcessorUse::on_sample(const Sample& record) {
  SampledUse use;
  use.all = weights_.weigh(record);
  if (record.in_isr)
    use.in_isr = use.all;
  else if (record.in_dpc)
    use.in_dpc = use.all;
  if (!record.counts) ++counts_.low_power;
  total_.add(use);
  auto& processor = processors_[*record.moment.cpu];
  processor.sampled.add(use);
  if (record.thread == nobody) {
    ++counts_.threadless;
    unknown_process_.sampled.add(use);
  } else {
    grown(threads_, record.thread).sampled.add(use);
    if (population_->threads()[record.thread].idle_of) processor.sampled_idle.add(use.all);
  }
  const auto code =
      code_.find(pid_of(*population_, record.thread), record.address, record.moment.time);
  grown(modules_, code.module).add(use);
  grown(functions_, code.function).add(use);
}

void ProcessorUse::finish(const Observed& observed) {
  schedule_.finish(observed);
  sum_up_processes();
}

void ProcessorUse::sum_up_processes() {
  const auto& scheduled = schedule_.threads();
  if (threads_.size() < scheduled.size()) threads_.resize(scheduled.size());
  processes_.resize(population_->processes().size());
  for (Index i = 0; i < threads_.size(); ++i) {
    auto& one = threads_[i];
    if (i < scheduled.size()) {
      one.turns = scheduled[i].turns;
      one.running = scheduled[i].running;
    }
    const auto process = population_->threads()[i].process;
    (process == nobody ? unknown_process_ : processes_[process]).add(one);
  }
}

}  // namespace coldtrace::trace_analysis
