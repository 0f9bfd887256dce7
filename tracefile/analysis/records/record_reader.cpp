#include "tracefile/analysis/records/record_reader.hpp"

#include "tracefile/analysis/records/grown.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;

constexpr u8 in_dpc = 1;  // of ReadyThread's Flag
// Of a sample's flags, which its layout calls Reserved.
constexpr u16 sample_in_dpc = 1;
constexpr u16 sample_in_isr = 2;

}  // namespace

void RecordReader::read_pair(const Event& event, const EventPlans::PairPlan& plan) {
  CallRecord record{moment_of(event),
                    thread_of(event.tid, event.cpu),
                    plan.role.enters,
                    false,
                    Service{Service::Kind::event_pair, plan.role.pair},
                    std::nullopt};
  if (plan.has_key) {
    plan.key.take(event, values_);
    record.key = values_.get<u64>(Field::pair_key);
    if (!record.key) {
      ++unreadable_;
      return;
    }
  }
  for (auto* const analysis : analyses_) analysis->on_call(record);
}

bool RecordReader::read(const Event& event) {
  const auto& plan = plans_.of(event);
  for (const auto& pair : plan.pairs) read_pair(event, pair);
  if (plan.known == nullptr) return !plan.pairs.empty();
  plan.fields.take(event, values_);
  if (read(event, *plan.known)) return true;
  ++unreadable_;
  return false;
}

bool RecordReader::read(const Event& event, const KnownEvent& known) {
  switch (known.record) {
    case RecordKind::context_switch:
      return context_switch(event);
    case RecordKind::readied:
      return readied(event);
    case RecordKind::priority_set:
      return priority_change(event, PriorityChange::Kind::priority);
    case RecordKind::base_priority_set:
      return priority_change(event, PriorityChange::Kind::base);
    case RecordKind::priority_floor_set:
      return priority_change(event, PriorityChange::Kind::floor);
    case RecordKind::starvation_boost:
      return priority_change(event, PriorityChange::Kind::starved);
    case RecordKind::affinity_set:
      return affinity_change(event);
    case RecordKind::message_sent:
      return message(event, MessageRecord::Kind::sent);
    case RecordKind::message_received:
      return message(event, MessageRecord::Kind::received);
    case RecordKind::reply_awaited:
      return message(event, MessageRecord::Kind::waits_for_reply);
    case RecordKind::message_wait_end:
      return message(event, MessageRecord::Kind::wait_ended);
    case RecordKind::collision:
      return collision(event);
    case RecordKind::wait_begin:
      return wait_begin(event);
    case RecordKind::wait_begin_of_several:
      return wait_begin_of_several(event);
    case RecordKind::wait_satisfied:
      return wait_satisfied(event);
    case RecordKind::wait_end:
      return wait_end(event);
    case RecordKind::call:
      return call(event, known.service, true);
    case RecordKind::call_return:
      return call(event, known.service, false);
    case RecordKind::vxd_call:
      return vxd_call(event, true);
    case RecordKind::vxd_return:
      return vxd_call(event, false);
    case RecordKind::vxd_service_name:
      return vxd_service_named();
    case RecordKind::interruption:
      return interruption(event, known.service);
    case RecordKind::sample:
      return sample(event);
    case RecordKind::stack:
    case RecordKind::stack_key:
      return stack(event, known);
    case RecordKind::process:
      return process(event, known.life);
    case RecordKind::thread:
      return thread(event, known.life);
    case RecordKind::thread_name:
      return thread_named(event);
    case RecordKind::disk_start:
      return disk_start(event, known.disk_action);
    case RecordKind::disk_end:
      return disk_end(event, known.disk_action);
    case RecordKind::file_start:
      return file_start(event, known.file_action);
    case RecordKind::file_end:
      return file_end(event);
    case RecordKind::tcp_sent:
    case RecordKind::tcp_sent_again:
    case RecordKind::tcp_received:
    case RecordKind::udp_sent:
    case RecordKind::udp_received:
      return network_transfer(event, known.record);
    case RecordKind::network_start:
      return network_start(event);
    case RecordKind::network_end:
      return network_end(event);
  }
  return false;
}

Moment RecordReader::moment_of(const Event& event) const {
  return {event.name_time(), event.cpu, {event.buffer_offset, event.offset}};
}

// The idle threads all have the id 0.
Index RecordReader::thread_of(std::optional<u32> tid, std::optional<u16> cpu) {
  if (!tid || *tid == unknown_id) return nobody;
  if (*tid != 0) return population_.thread(*tid);
  return cpu ? population_.idle_thread(*cpu) : nobody;
}

Index RecordReader::living_thread(u32 tid, u16 cpu) {
  if (tid == 0 || tid == unknown_id) return thread_of(tid, cpu);
  return population_.living_thread(tid);
}

Index RecordReader::header_thread(const Event& event) {
  if (event.thread_source != tracefile::ThreadSource::header) return running(event);
  return thread_of(event.tid, event.cpu);
}

// Nobody where a switch may be missing since the last one that is there.
Index RecordReader::running(const Event& event) const {
  if (!event.cpu || *event.cpu >= running_.size()) return nobody;
  const auto& runner = running_[*event.cpu];
  const auto now = event.name_time();
  if (runner.thread == nobody || losses_.on(*event.cpu, runner.since, now) ||
      !losses_.is_runner_known(*event.cpu, now))
    return nobody;
  return runner.thread;
}

bool RecordReader::context_switch(const Event& event) {
  const auto old_tid = values_.get<u32>(Field::old_thread);
  const auto new_tid = values_.get<u32>(Field::new_thread);
  if (!event.cpu || !old_tid || !new_tid) return false;
  ContextSwitch record{};
  record.moment = moment_of(event);
  record.old_thread = living_thread(*old_tid, *event.cpu);
  record.new_thread = living_thread(*new_tid, *event.cpu);
  if (record.old_thread == nobody || record.new_thread == nobody) return false;
  set_process(record.old_thread, values_.get<u32>(Field::old_process));
  set_process(record.new_thread, values_.get<u32>(Field::new_process));
  auto& runner = grown(running_, *event.cpu);
  record.continues = runner.thread == record.old_thread;
  if (const auto state = values_.get<u8>(Field::old_state))
    record.old_state = static_cast<ThreadState>(*state);
  record.wait_reason = values_.get<u8>(Field::wait_reason);
  record.old_priority = values_.get<i8>(Field::old_priority);
  record.new_priority = values_.get<i8>(Field::new_priority);
  runner = {record.new_thread, record.moment.time};
  if (record.old_state == ThreadState::terminated &&
      !population_.threads()[record.old_thread].idle_of)
    population_.at_thread(record.old_thread).is_gone = true;
  for (auto* const analysis : analyses_) analysis->on_switch(record);
  return true;
}

bool RecordReader::readied(const Event& event) {
  const auto tid = values_.get<u32>(Field::thread);
  if (!tid || *tid == 0 || *tid == unknown_id) return false;
  Readied record{moment_of(event), population_.living_thread(*tid), nobody, false};
  record.in_dpc = (values_.get<u8>(Field::ready_flags).value_or(0) & in_dpc) != 0;
  if (!record.in_dpc) record.waker = header_thread(event);
  // The idle thread makes nobody ready: an interrupt does.
  if (record.waker != nobody && population_.threads()[record.waker].idle_of) {
    record.waker = nobody;
    record.in_dpc = true;
  }
  const auto reason = values_.get<u8>(Field::adjust_reason);
  const auto increment = values_.get<i8>(Field::adjust_increment);
  if (reason && increment)
    record.adjustment = Adjustment{static_cast<Adjustment::Reason>(*reason), *increment};
  for (auto* const analysis : analyses_) analysis->on_ready(record);
  return true;
}

bool RecordReader::priority_change(const Event& event, PriorityChange::Kind kind) {
  const auto tid = values_.get<u32>(Field::thread);
  const auto before = values_.get<i8>(Field::old_priority);
  const auto now = values_.get<i8>(Field::new_priority);
  if (!tid || *tid == 0 || *tid == unknown_id) return false;
  if (kind != PriorityChange::Kind::starved && (!before || !now)) return false;
  const auto thread = population_.thread(*tid);
  PriorityChange record{moment_of(event), kind, thread, header_thread(event), before, now};
  if (kind == PriorityChange::Kind::floor) record.lock = values_.get<u64>(Field::object);
  for (auto* const analysis : analyses_) analysis->on_priority_change(record);
  return true;
}

bool RecordReader::affinity_change(const Event& event) {
  const auto tid = values_.get<u32>(Field::thread);
  const auto processors = values_.get<u64>(Field::affinity);
  if (!tid || *tid == 0 || *tid == unknown_id || !processors) return false;
  const bool first_group = values_.get<u16>(Field::group).value_or(0) == 0;
  const AffinityChange record{moment_of(event), population_.thread(*tid),
                              first_group ? processors : std::nullopt};
  for (auto* const analysis : analyses_) analysis->on_affinity_change(record);
  return true;
}

// Events of the kernel have no thread: it is the one that runs there.
bool RecordReader::call(const Event& event, Service::Kind kind, bool enters) {
  CallRecord record{moment_of(event), nobody, enters, false, std::nullopt, std::nullopt};
  if (const auto number = values_.get<u64>(Field::service)) record.service = {kind, *number};
  if (enters && !record.service) return false;
  if (kind == Service::Kind::system_call_address) {
    record.thread = header_thread(event);
  } else {
    record.thread = thread_of(values_.get<u32>(Field::thread), event.cpu);
    if (record.thread == nobody || !record.service) return false;
    set_process(record.thread, values_.get<u32>(Field::process));
  }
  for (auto* const analysis : analyses_) analysis->on_call(record);
  return true;
}

bool RecordReader::vxd_call(const Event& event, bool enters) {
  const auto vxd = values_.get<u64>(Field::vxd);
  const auto service = values_.get<u64>(Field::service);
  if (!vxd || !service) return false;
  const CallRecord record{moment_of(event),
                          nobody,
                          enters,
                          true,
                          Service{Service::Kind::vxd_service, *vxd << 16 | *service},
                          values_.get<u64>(Field::cycles)};
  for (auto* const analysis : analyses_) analysis->on_call(record);
  return true;
}

bool RecordReader::vxd_service_named() {
  const auto vxd = values_.get<u64>(Field::vxd);
  const auto service = values_.get<u64>(Field::service);
  if (!vxd || !service) return false;
  const auto name = values_.text(Field::vxd_name) + ":" + values_.text(Field::service_name);
  for (auto* const analysis : analyses_)
    analysis->on_service_name({{Service::Kind::vxd_service, *vxd << 16 | *service}, name});
  return true;
}

bool RecordReader::interruption(const Event& event, Service::Kind kind) {
  const auto begin = values_.get<i64>(Field::begin_time);
  const auto routine = values_.get<u64>(Field::routine);
  if (!event.cpu || !begin || !routine) return false;
  const Interruption record{moment_of(event), *begin, {kind, *routine}};
  for (auto* const analysis : analyses_) analysis->on_interruption(record);
  return true;
}

bool RecordReader::sample(const Event& event) {
  const auto address = values_.get<u64>(Field::address);
  if (!event.cpu || !address) return false;
  Sample record{};
  record.moment = moment_of(event);
  record.thread = thread_of(values_.get<u32>(Field::thread), event.cpu);
  set_process(record.thread, event.pid);
  record.address = *address;
  record.counts = values_.get<u16>(Field::sample_count) != 0;
  const auto flags = values_.get<u16>(Field::sample_flags).value_or(0);
  record.in_dpc = (flags & sample_in_dpc) != 0;
  record.in_isr = (flags & sample_in_isr) != 0;
  for (auto* const analysis : analyses_) analysis->on_sample(record);
  return true;
}

bool RecordReader::stack(const Event& event, const KnownEvent& known) {
  const auto time = values_.get<i64>(Field::event_time);
  const auto tid = values_.get<u32>(Field::thread);
  if (!time || !tid) return false;
  if (known.record == RecordKind::stack)
    tracefile::read_stack_walk(event, stack_);
  else
    tracefile::find_stack(event, stacks_, stack_);
  const auto thread = thread_of(tid, event.cpu);
  set_process(thread, values_.get<u32>(Field::process));
  const auto& frames = stack_.frames;
  const auto first_of_kernel = event.pointer_size == 8 ? u64{1} << 63U : u64{1} << 31U;
  const StackWalk record{moment_of(event), *time, thread, frames,
                         !frames.empty() && frames.front() >= first_of_kernel};
  for (auto* const analysis : analyses_) analysis->on_stack(record);
  return true;
}

}  // namespace coldtrace::trace_analysis
