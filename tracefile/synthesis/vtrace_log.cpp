#include "tracefile/synthesis/vtrace_log.hpp"

#include <limits>

namespace coldtrace::tracefile::synthesis {
namespace {

// Ids of vtrace.schema.
constexpr u16 process_start = 0x0101;
constexpr u16 process_stop = 0x0102;
constexpr u16 thread_start = 0x0103;
constexpr u16 thread_stop = 0x0104;
constexpr u16 context_switch = 0x0106;
constexpr u16 wait_begin = 0x0110;
constexpr u16 wait_end = 0x0111;
constexpr u16 message_sent_event = 0x0112;
constexpr u16 key_press = 0x0120;
constexpr u16 current_user = 0x0123;
constexpr u16 file_system_request = 0x0130;
constexpr u16 file_system_completion = 0x0131;
constexpr u16 disk_request_event = 0x0133;
constexpr u16 disk_completion = 0x0134;

constexpr u8 read_function = 3;  // IRP_MJ_READ
constexpr u8 write_function = 4;
constexpr u32 direct_and_input = 0x43;  // IRP_NOCACHE, IRP_PAGING_IO, IRP_INPUT_OPERATION
constexpr u64 file_object = 0xffff'fa80'0300'0000;
constexpr u64 lower_irp = 0x100;  // behind the one of the file system

CtraceData data_of(const Thread& thread) {
  CtraceData data;
  data.u32(thread.process->id).u32(thread.id);
  return data;
}

// ObjectType of vtrace.schema.
u8 kind_of(ObjectType type) {
  switch (type) {
    case ObjectType::notification_event:
    case ObjectType::synchronization_event:
      return 1;
    case ObjectType::mutant:
      return 2;
    case ObjectType::semaphore:
      return 3;
    case ObjectType::notification_timer:
    case ObjectType::synchronization_timer:
      return 4;
    case ObjectType::process:
      return 5;
    case ObjectType::thread:
      return 6;
  }
  return 0;
}

// As KeWaitForSingleObject has it: from now on, or the least number for ever.
u64 timeout_of(const Wait& wait) {
  return wait.timeout ? u64{} - *wait.timeout : static_cast<u64>(std::numeric_limits<i64>::min());
}

}  // namespace

void VtraceLog::write(const Moment& at, u16 type, const CtraceData& data) {
  file_.write(at.time, at.processor, type, data);
}

void VtraceLog::name_user(const Moment& at) {
  if (std::exchange(user_named_, true)) return;
  const std::array<std::byte, 12> local_system = {std::byte{1}, std::byte{1}, {}, {}, {}, {}, {},
                                                  std::byte{5}, std::byte{18}};
  write(at, current_user,
        CtraceData{}.counted_utf16("user").counted_utf16("HOME").bytes(local_system));
}

void VtraceLog::process_created(const Moment& at, const Process& process) {
  if (options_.waits_alone) return;
  name_user(at);
  write(at, process_start, CtraceData{}.u32(process.id).u32(process.parent).utf16(process.image));
}

void VtraceLog::process_ended(const Moment& at) {
  if (options_.waits_alone) return;
  write(at, process_stop, CtraceData{}.u32(at.thread.process->id));
}

void VtraceLog::thread_created(const Moment& at, const Thread& thread) {
  if (options_.waits_alone) return;
  write(at, thread_start, data_of(thread));
}

void VtraceLog::thread_ended(const Moment& at) {
  if (options_.waits_alone) return;
  write(at, thread_stop, data_of(at.thread));
}

void VtraceLog::switched(const Moment& at, const ContextSwitch& change) {
  if (options_.waits_alone) return;
  write(at, context_switch, data_of(at.thread).u32(change.next.process->id).u32(change.next.id));
}

void VtraceLog::wait_begun(const Moment& at, const Wait& wait) {
  auto data = data_of(at.thread);
  data.u8(wait.reason).u8(static_cast<u8>(wait.type)).u8(static_cast<u8>(wait.objects.size()));
  for (const auto* object : wait.objects) data.u8(kind_of(object->type())).word(object->address());
  write(at, wait_begin, data.u64(timeout_of(wait)));
}

void VtraceLog::wait_ended(const Moment& at, u32 status) {
  write(at, wait_end, data_of(at.thread).u32(status));
}

void VtraceLog::disk_requested(const Moment& at, const DiskRequest& request) {
  const u8 function = request.write ? write_function : read_function;
  write(at, file_system_request,
        data_of(at.thread)
            .word(request.irp)
            .word(file_object)
            .u8(function)
            .u8(0)
            .u32(direct_and_input)
            .u64(request.offset)
            .u32(request.bytes)
            .counted_utf16(""));
  write(at, disk_request_event,
        CtraceData{}
            .word(request.irp + lower_irp)
            .u32(0)
            .u8(function)
            .u64(request.offset)
            .u32(request.bytes));
}

void VtraceLog::disk_completed(const Moment& at, const DiskRequest& request) {
  write(at, disk_completion, CtraceData{}.word(request.irp + lower_irp).u32(0).word(request.bytes));
  write(at, file_system_completion, CtraceData{}.word(request.irp).u32(0).word(request.bytes));
}

void VtraceLog::key_pressed(const Moment& at, std::span<const std::byte, 8> encrypted) {
  write(at, key_press, CtraceData{}.u32(1).counted_bytes(encrypted));
}

void VtraceLog::message_sent(const Moment& at, const Message& message) {
  write(at, message_sent_event,
        data_of(at.thread).u32(message.receiver.id).word(message.window).u32(message.number).u8(1));
}

}  // namespace coldtrace::tracefile::synthesis
