#include "coldtrace/tracefile/etl/running_threads.hpp"

#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/events/header_type.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u8 thread_group = 0x05;
constexpr u8 context_switch = 36;

}  // namespace

bool RunningThreads::is_switch(const Event& event) {
  return event.kernel_group == thread_group && event.opcode == context_switch;
}

bool RunningThreads::may_complete(const Event& event) {
  return !event.tid && !event.pid && event.kernel_group &&
         (event.header_type == static_cast<u8>(HeaderType::perfinfo32) ||
          event.header_type == static_cast<u8>(HeaderType::perfinfo64));
}

void RunningThreads::apply(Event& event, const NameTables& names) {
  if (!event.cpu || !event.kernel_group) return;
  if (*event.cpu >= processors_.size()) processors_.resize(std::size_t{*event.cpu} + 1);
  auto& running = processors_[*event.cpu];
  const auto process_of = [&](u32 tid) { return names.find_process_of(tid, event.name_time()); };
  const auto set = [&] {
    event.tid = running.tid;
    event.pid = running.pid;
    if (event.tid) event.thread_source = ThreadSource::context_switch;
  };
  if (is_switch(event)) {
    const auto ids = core::Fields<8>::at(event.payload, 0);
    if (!ids) return;
    const auto old_tid = ids->get<u32, 4>();
    if (running.tid != old_tid) running = {old_tid, process_of(old_tid)};
    if (!event.tid) set();
    const auto new_tid = ids->get<u32, 0>();
    running = {new_tid, process_of(new_tid)};
    return;
  }
  if (may_complete(event)) set();
}

void RunningThreads::forget(u16 cpu) {
  if (cpu < processors_.size()) processors_[cpu] = {};
}

}  // namespace coldtrace::tracefile
