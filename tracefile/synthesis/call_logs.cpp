#include "tracefile/synthesis/call_logs.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

// Ids of dynamic_tracing.schema.
constexpr u16 system_service_enter = 0x0401;
constexpr u16 system_service_exit = 0x0402;

// Ids of vxdmon.schema.
constexpr u16 service_call = 0x0301;
constexpr u16 service_return = 0x0302;

constexpr u64 cycles_per_tick = 10;  // of a processor with 100 MHz

CtraceData begin(const Thread& thread, const Service& service) {
  CtraceData data;
  data.u32(thread.process->id).u32(thread.id).u32(service.name_hash);
  return data;
}

void add_service(CtraceData& data, u32 number) {
  data.u16(static_cast<u16>(number >> 16)).u16(static_cast<u16>(number));
}

}  // namespace

void DynamicTracingLog::call_entered(const Moment& at, const Service& service,
                                     std::span<const u64> arguments) {
  if (service.name_hash == 0) return;
  auto data = begin(at.thread, service);
  data.word(service.address).u8(static_cast<u8>(arguments.size()));
  for (const u64 argument : arguments) data.u64(argument);
  file_.write(at.time, at.processor, system_service_enter, data);
}

void DynamicTracingLog::call_returned(const Moment& at, const Service& service, u64 status) {
  if (service.name_hash == 0) return;
  file_.write(at.time, at.processor, system_service_exit, begin(at.thread, service).u64(status));
}

CtraceData VxdmonLog::data_of(const Thread& thread, const Service& service) const {
  const auto found = calls_.find(&thread);
  CtraceData data;
  add_service(data, service.number);
  add_service(data,
              found == calls_.end() || found->second.empty() ? 0 : found->second.back().service);
  return data;
}

void VxdmonLog::call_entered(const Moment& at, const Service& service, std::span<const u64>) {
  file_.write(at.time, at.processor, service_call, data_of(at.thread, service));
  calls_[&at.thread].push_back({service.number, at.time});
}

void VxdmonLog::call_returned(const Moment& at, const Service& service, u64) {
  auto& calls = calls_[&at.thread];
  const u64 entered = calls.back().entered;
  calls.pop_back();
  file_.write(at.time, at.processor, service_return,
              data_of(at.thread, service).u64((at.time - entered) * cycles_per_tick));
}

}  // namespace coldtrace::tracefile::synthesis
