#include "tracefile/synthesis/wmk_log.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

// Ids of wmk.schema.
constexpr u16 system_call = 0x0201;
constexpr u16 system_call_return = 0x0202;
constexpr u16 system_call_parameters = 0x0203;
constexpr u16 context_switch = 0x0204;
constexpr u16 wait_begin = 0x0205;
constexpr u16 wait_satisfied_event = 0x0206;
constexpr u16 thread_end = 0x0207;
constexpr u16 thread_create = 0x0208;
constexpr u16 process_create = 0x0209;
constexpr u16 process_end = 0x020a;
constexpr u16 page_fault_event = 0x020b;

constexpr std::size_t image_file_name_size = 16;

// What most events begin with.
CtraceData data_of(const Thread& thread) {
  CtraceData data;
  data.u32(thread.process->id).u32(thread.id);
  return data;
}

}  // namespace

void WmkLog::write(const Moment& at, u16 type, const CtraceData& data) {
  file_.write(at.time, at.processor, type, data);
}

void WmkLog::process_created(const Moment& at, const Process& process) {
  write(at, process_create,
        data_of(at.thread).u32(process.id).fixed_ansi(process.image, image_file_name_size));
}

void WmkLog::process_ended(const Moment& at) {
  write(at, process_end, data_of(at.thread).u32(at.thread.process->exit_status));
}

void WmkLog::thread_created(const Moment& at, const Thread& thread) {
  write(at, thread_create,
        data_of(at.thread)
            .u32(thread.process->id)
            .u32(thread.id)
            .word(thread.object.address())
            .word(thread.start_address));
}

void WmkLog::thread_ended(const Moment& at) {
  write(at, thread_end, data_of(at.thread).u32(at.thread.exit_status));
}

void WmkLog::switched(const Moment& at, const ContextSwitch& change) {
  write(at, context_switch,
        data_of(at.thread)
            .u32(change.next.process->id)
            .u32(change.next.id)
            .u8(static_cast<u8>(change.state))
            .u8(change.wait_reason)
            .u8(static_cast<u8>(at.thread.priority))
            .u8(static_cast<u8>(change.next.priority)));
}

void WmkLog::wait_begun(const Moment& at, const Wait& wait) {
  if (!options_.waits) return;
  for (const auto* object : wait.objects)
    write(at, wait_begin,
          data_of(at.thread)
              .word(at.thread.object.address())
              .word(object->address())
              .u8(static_cast<u8>(object->type()))
              .u8(wait.reason));
}

void WmkLog::wait_satisfied(const Moment& at, const Thread& waiter, const DispatcherObject& object,
                            u32 status) {
  if (!options_.waits) return;
  write(at, wait_satisfied_event,
        data_of(waiter)
            .word(waiter.object.address())
            .word(object.address())
            .u8(static_cast<u8>(object.type()))
            .u32(status));
}

void WmkLog::call_entered(const Moment& at, const Service& service,
                          std::span<const u64> arguments) {
  if (service.name_hash != 0) return;
  write(at, system_call, data_of(at.thread).u32(service.number));
  if (arguments.empty()) return;
  auto data = data_of(at.thread);
  data.u32(service.number).u8(static_cast<u8>(arguments.size()));
  for (const u64 argument : arguments) data.word(argument);
  write(at, system_call_parameters, data);
}

void WmkLog::call_returned(const Moment& at, const Service& service, u64 status) {
  if (service.name_hash != 0) return;
  write(at, system_call_return,
        data_of(at.thread).u32(service.number).u32(static_cast<u32>(status)));
}

void WmkLog::page_fault(const Moment& at, const PageFault& fault) {
  write(at, page_fault_event,
        data_of(at.thread)
            .word(fault.address)
            .word(fault.instruction)
            .u8(fault.write ? 1 : 0)
            .u8(0)
            .u32(0));
}

}  // namespace coldtrace::tracefile::synthesis
