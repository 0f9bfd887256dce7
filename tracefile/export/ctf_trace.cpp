#include "coldtrace/trace_export/ctf_trace.hpp"

#include <algorithm>
#include <limits>

#include "tracefile/export/ctf_fields.hpp"
#include "tracefile/export/ctf_metadata.hpp"

namespace coldtrace::trace_export {
namespace {

using trace_analysis::ThreadState;
using ServiceKind = trace_analysis::Service::Kind;

constexpr i32 not_known = -1;

// Source: Linux, include/linux/sched.h: running, interruptible, uninterruptible, dead. What is not
// known counts as a wait, which says less than that it could run.
i64 linux_state(std::optional<ThreadState> state) {
  switch (state.value_or(ThreadState::waiting)) {
    case ThreadState::initialized:
    case ThreadState::ready:
    case ThreadState::running:
    case ThreadState::standby:
    case ThreadState::deferred_ready:
      return 0;
    case ThreadState::transition:
    case ThreadState::process_swapped:
      return 2;
    case ThreadState::terminated:
      return 64;
    case ThreadState::waiting:
    case ThreadState::gate_wait:
      break;
  }
  return 1;
}

i64 number_or_unknown(const std::optional<u64>& number) {
  const auto known = number.value_or(std::numeric_limits<u64>::max());
  return known <= static_cast<u64>(std::numeric_limits<i64>::max()) ? static_cast<i64>(known)
                                                                    : i64{not_known};
}

i32 priority_or_unknown(std::optional<i8> priority) {
  return priority ? i32{*priority} : not_known;
}

// The same for all events of a trace, and of each run: a UUID of version 8 (RFC 9562), whose bits
// are the application's own.
CtfStream::TraceId trace_id(const TimelineNames& names) {
  CtfStream::TraceId id{'c', 'o', 'l', 'd', 't', 'r', '\x80', 'c', '\x80', 'e', 0, 0, 0, 0, 0, 0};
  auto start = static_cast<u64>(names.start().value_or(0)) / 100;
  for (std::size_t i = 0; i < 6; ++i, start >>= 8U) id[15 - i] = static_cast<char>(start & 0xffU);
  return id;
}

bool is_interrupt(ServiceKind kind) {
  return kind == ServiceKind::isr || kind == ServiceKind::dpc || kind == ServiceKind::timer_dpc ||
         kind == ServiceKind::io_timer;
}

}  // namespace

CtfTrace::CtfTrace(core::Borrowed<TimelineNames> names, FileSink write)
    : names_{names.get()},
      write_{std::move(write)},
      chain_{names, [this](const ChainedSwitch& change) { changes_.push_back(change); }} {}

CtfTrace::~CtfTrace() = default;

CtfTrace::Processor* CtfTrace::processor(u16 cpu) {
  const auto known = processors_.find(cpu);
  if (known != processors_.end()) return &known->second;
  if (processors_.size() == most_processors) {
    ++beyond_limits_;
    return nullptr;
  }
  auto& made = processors_[cpu];
  made.stream = std::make_unique<CtfStream>("channel_" + std::to_string(cpu), u32{cpu},
                                            trace_id(names_), write_);
  return &made;
}

CtfStream& CtfTrace::requests() {
  if (!requests_)
    requests_ = std::make_unique<CtfStream>("requests", std::nullopt, trace_id(names_), write_);
  return *requests_;
}

bool CtfTrace::has_place(i64 begin) {
  if (names_.nanoseconds(begin) >= 0) return true;
  ++left_out_;
  return false;
}

std::string CtfTrace::name_of(Index thread, u32 id) const {
  if (id == 0) return "idle";
  if (thread == nobody)
    return id == SwitchChain::not_shown_id ? "[not shown]" : "[events are missing]";
  auto name = names_.thread_name(thread);
  const auto process = names_.population().threads()[thread].process;
  return name.empty() && process != nobody ? names_.process_name(process) : name;
}

i32 CtfTrace::tid_of(Index thread) const {
  return thread == nobody ? not_known : static_cast<i32>(chain_.id_of(thread));
}

void CtfTrace::write(const ChainedSwitch& change) {
  auto* const at = processor(change.cpu);
  if (at == nullptr) return;
  if (change.old_id == SwitchChain::lost_id) at->stream->lose();
  const auto keep = [&](Index thread, std::optional<i8> priority) {
    if (thread == nobody) return;
    if (thread >= priorities_.size()) priorities_.resize(std::size_t{thread} + 1, not_known);
    if (priority) priorities_[thread] = i32{*priority};
  };
  keep(change.old_thread, change.old_priority);
  keep(change.new_thread, change.new_priority);
  std::string bytes;
  CtfFields{bytes}
      .text(name_of(change.old_thread, change.old_id))
      .number(change.old_id)
      .number(priority_or_unknown(change.old_priority))
      .number(linux_state(change.old_state))
      .text(name_of(change.new_thread, change.new_id))
      .number(change.new_id)
      .number(priority_or_unknown(change.new_priority))
      .text(change.old_state ? to_string(*change.old_state) : std::string_view{})
      .text(change.wait_reason ? trace_analysis::wait_reason_name(*change.wait_reason)
                               : std::string_view{});
  if (at->stream->add(CtfEvent::sched_switch, change.time, bytes)) ++beyond_limits_;
}

// What the chain says of the time before lies in front of what the processor did since.
void CtfTrace::on_switch(const ContextSwitch& record, const Turn* ended, bool is_shown) {
  changes_.clear();
  chain_.on_switch(record, ended, is_shown);
  const auto now = names_.nanoseconds(record.moment.time);
  const auto is_before = [&](const ChainedSwitch& change) { return change.time < now; };
  for (const auto& change : changes_)
    if (is_before(change)) write(change);
  if (auto* const at = processor(*record.moment.cpu)) flush(*at);
  for (const auto& change : changes_)
    if (!is_before(change)) write(change);
}

void CtfTrace::on_last_turn(const Turn& turn, bool misses_events) {
  changes_.clear();
  chain_.on_last_turn(turn, misses_events);
  for (const auto& change : changes_) write(change);
}

// Who wakes is the thread that runs there, which readers know by the switches; or an interrupt.
void CtfTrace::on_ready(const Readied& record) {
  const auto cpu = record.moment.cpu;
  auto* const at = cpu ? processor(*cpu) : nullptr;
  if (cpu && at == nullptr) return;
  const auto id = chain_.id_of(record.thread);
  const i32 priority = record.thread < priorities_.size() ? priorities_[record.thread] : not_known;
  Waking waking{names_.nanoseconds(record.moment.time), {}};
  CtfFields{waking.fields}
      .text(name_of(record.thread, id))
      .number(id)
      .number(priority)
      .number(cpu ? i32{*cpu} : not_known)
      .number(tid_of(record.waker))
      .text(record.in_dpc            ? "interrupt"
            : record.waker != nobody ? "thread"
                                     : "");
  if (at == nullptr) {
    if (requests().add(CtfEvent::waking, waking.time, waking.fields)) ++beyond_limits_;
    return;
  }
  if (at->wakings.size() == most_held) flush(*at);
  at->wakings.push_back(std::move(waking));
}

void CtfTrace::write_boundary(CtfStream& stream, i64 time, u32 service, bool enters) {
  const bool is_isr = names_.kind_of(service) == ServiceKind::isr;
  std::string bytes;
  CtfFields fields{bytes};
  fields.number(service);
  if (is_isr && !enters)
    fields.number(i32{1});
  else
    fields.text(names_.service(service));
  const auto event = is_isr ? (enters ? CtfEvent::irq_entry : CtfEvent::irq_exit)
                            : (enters ? CtfEvent::softirq_entry : CtfEvent::softirq_exit);
  if (stream.add(event, time, bytes)) ++beyond_limits_;
}

// What begins first is outside; a thread that was made ready when an interrupt ended was so by it.
void CtfTrace::flush(Processor& processor) {
  auto& interrupts = processor.interrupts;
  std::ranges::sort(interrupts, [](const Interrupt& a, const Interrupt& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.order > b.order;
  });
  auto& stream = *processor.stream;
  auto waking = processor.wakings.begin();
  const auto wake_until = [&](i64 time, bool including) {
    for (; waking != processor.wakings.end() &&
           (waking->time < time || (including && waking->time == time));
         ++waking)
      if (stream.add(CtfEvent::sched_waking, waking->time, waking->fields)) ++beyond_limits_;
  };
  std::vector<const Interrupt*> open;
  const auto close_until = [&](i64 time) {
    for (; !open.empty() && open.back()->end <= time; open.pop_back()) {
      wake_until(open.back()->end, true);
      write_boundary(stream, open.back()->end, open.back()->service, false);
    }
  };
  for (const auto& interrupt : interrupts) {
    close_until(interrupt.begin);
    wake_until(interrupt.begin, false);
    write_boundary(stream, interrupt.begin, interrupt.service, true);
    open.push_back(&interrupt);
  }
  constexpr auto ever = std::numeric_limits<i64>::max();
  close_until(ever);
  wake_until(ever, true);
  interrupts.clear();
  processor.wakings.clear();
}

void CtfTrace::on_call(const Services::Seen& seen) {
  if (!has_place(seen.begin)) return;
  const auto begin = names_.nanoseconds(seen.begin), end = names_.nanoseconds(seen.end.time);
  if (seen.thread == nobody && is_interrupt(names_.kind_of(seen.service))) {
    auto* const at = processor(*seen.end.cpu);
    if (at == nullptr) return;
    if (at->interrupts.size() == most_held) flush(*at);
    at->interrupts.push_back({begin, end, ++order_, seen.service});
    return;
  }
  std::string bytes;
  CtfFields{bytes}
      .text(names_.service(seen.service))
      .text(to_string(names_.kind_of(seen.service)))
      .number(tid_of(seen.thread))
      .number(static_cast<u64>(end - begin));
  if (requests().add(CtfEvent::call, end, bytes)) ++beyond_limits_;
}

void CtfTrace::on_disk_request(const DiskRequest& request) {
  if (!request.begin || !has_place(*request.begin)) return;
  const auto end = names_.nanoseconds(request.end.time);
  std::string bytes;
  CtfFields{bytes}
      .text(to_string(request.action))
      .number(request.disk ? static_cast<i32>(*request.disk) : not_known)
      .number(tid_of(request.thread))
      .number(number_or_unknown(request.offset))
      .number(number_or_unknown(request.bytes))
      .number(static_cast<u64>(end - names_.nanoseconds(*request.begin)));
  if (requests().add(CtfEvent::disk_request, end, bytes)) ++beyond_limits_;
}

void CtfTrace::on_file_operation(const FileOperation& operation) {
  if (!has_place(operation.begin)) return;
  const auto end = names_.nanoseconds(operation.end.time);
  std::string bytes;
  CtfFields{bytes}
      .text(to_string(operation.action))
      .text(names_.file(operation.file))
      .number(tid_of(operation.thread))
      .number(number_or_unknown(operation.bytes))
      .number(operation.status)
      .number(static_cast<u64>(end - names_.nanoseconds(operation.begin)));
  if (requests().add(CtfEvent::file_operation, end, bytes)) ++beyond_limits_;
}

void CtfTrace::on_region(const Region& region) {
  if (!has_place(region.begin)) return;
  const auto end = names_.nanoseconds(region.end.time);
  std::string arguments;
  for (const auto& argument : region.arguments)
    arguments += (arguments.empty() ? "" : ", ") + argument.name + '=' + argument.value;
  std::string bytes;
  CtfFields{bytes}
      .text(region.provider)
      .text(region.name)
      .number(tid_of(region.thread))
      .text(arguments)
      .number(static_cast<u64>(end - names_.nanoseconds(region.begin)));
  if (requests().add(CtfEvent::region, end, bytes)) ++beyond_limits_;
}

// Trace Compass has threads below the process with their process's id, which needs an entry of its
// own. Of who was there before, the time is that of the first event.
void CtfTrace::write_population(const Observed& observed) {
  struct Entry {
    i64 time;
    CtfEvent event;
    std::string fields;
  };
  std::vector<Entry> entries;
  const auto last = names_.nanoseconds(observed.last.value_or(0));
  const auto at = [&](const std::optional<i64>& time) {
    return std::clamp<i64>(time ? names_.nanoseconds(*time) : 0, 0, std::max<i64>(0, last));
  };
  const auto add_state = [&](i64 time, i32 tid, i32 pid, i32 parent, const std::string& name) {
    auto& entry = entries.emplace_back(Entry{time, CtfEvent::process_state, {}});
    CtfFields fields{entry.fields};
    for (const auto id : {tid, tid, pid, pid, parent, parent}) fields.number(id);
    fields.text(name);
    for (int i = 0; i < 4; ++i) fields.number(i32{0});
    fields.number(u32{0});
  };
  const auto& population = names_.population();
  for (Index i = 0; i < population.processes().size(); ++i) {
    const auto& process = population.processes()[i];
    const auto pid = static_cast<i32>(process.pid);
    if (pid != 0)
      add_state(at(process.life.start), pid, pid,
                process.stated_parent ? static_cast<i32>(*process.stated_parent) : not_known,
                names_.process_name(i));
  }
  for (Index i = 0; i < population.threads().size(); ++i) {
    const auto& thread = population.threads()[i];
    const auto pid = trace_analysis::pid_of(population, i);
    if (thread.idle_of || !pid) continue;
    const auto tid = static_cast<i32>(thread.tid);
    const auto name = name_of(i, thread.tid);
    add_state(at(thread.life.start), tid, static_cast<i32>(*pid), static_cast<i32>(*pid), name);
    if (!thread.life.end) continue;
    auto& entry = entries.emplace_back(Entry{at(thread.life.end), CtfEvent::process_exit, {}});
    CtfFields{entry.fields}.text(name).number(tid).number(not_known);
  }
  std::ranges::stable_sort(entries, {}, &Entry::time);
  CtfStream stream{"statedump", u32{0}, trace_id(names_), write_};
  for (const auto& entry : entries) stream.add(entry.event, entry.time, entry.fields);
  stream.flush();
}

void CtfTrace::finish(const Observed& observed) {
  for (auto& [cpu, processor] : processors_) {
    flush(processor);
    processor.stream->flush();
  }
  if (requests_) requests_->flush();
  write_population(observed);
  write_("metadata", ctf_metadata(trace_id(names_), names_.start()));
}

}  // namespace coldtrace::trace_export
