#include "coldtrace/trace_analysis/records/records.hpp"

#include <array>

#include "tracefile/providers/kernel_values.hpp"

namespace coldtrace::trace_analysis {
namespace {

std::string_view find_value(const tracefile::ValueMap& map, u64 value) {
  for (const auto& entry : map.entries)
    if (entry.value == value) return entry.text;
  return {};
}

}  // namespace

std::string_view wait_reason_name(u8 reason) {
  static const auto names = tracefile::find_kernel_values("WaitReason");
  return find_value(*names, reason);
}

std::string_view to_string(ThreadState state) {
  static const auto names = tracefile::find_kernel_values("ThreadState");
  return find_value(*names, static_cast<u8>(state));
}

std::string_view to_string(DiskAction action) {
  switch (action) {
    case DiskAction::read:
      return "read";
    case DiskAction::write:
      return "write";
    case DiskAction::flush:
      return "flush";
    case DiskAction::other:
      break;
  }
  return "other";
}

std::string_view to_string(FileAction action) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(FileAction::count)> names = {
      "create", "cleanup", "close",     "read",   "write", "query_information", "set_information",
      "delete", "rename",  "enumerate", "notify", "flush", "control",           "other"};
  return names[static_cast<std::size_t>(action)];
}

std::string_view to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::tcp:
      return "tcp";
    case Protocol::udp:
      return "udp";
    case Protocol::unknown:
      break;
  }
  return "unknown";
}

std::string_view io_priority_name(u8 priority) {
  constexpr std::array<std::string_view, 5> names = {"VeryLow", "Low", "Normal", "High",
                                                     "Critical"};
  return priority < names.size() ? names[priority] : std::string_view{};
}

std::string_view to_string(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::unknown:
      break;
    case ObjectKind::event:
      return "Event";
    case ObjectKind::notification_event:
      return "NotificationEvent";
    case ObjectKind::synchronization_event:
      return "SynchronizationEvent";
    case ObjectKind::mutant:
      return "Mutant";
    case ObjectKind::process:
      return "Process";
    case ObjectKind::queue:
      return "Queue";
    case ObjectKind::semaphore:
      return "Semaphore";
    case ObjectKind::thread:
      return "Thread";
    case ObjectKind::gate:
      return "Gate";
    case ObjectKind::timer:
      return "Timer";
    case ObjectKind::notification_timer:
      return "NotificationTimer";
    case ObjectKind::synchronization_timer:
      return "SynchronizationTimer";
    case ObjectKind::file:
      return "File";
    case ObjectKind::port:
      return "Port";
  }
  return "Object";
}

std::string_view to_string(Service::Kind kind) {
  using Kind = Service::Kind;
  switch (kind) {
    case Kind::system_call:
      return "system_call";
    case Kind::hashed_system_call:
      return "hashed_system_call";
    case Kind::system_call_address:
      return "system_call_address";
    case Kind::vxd_service:
      return "vxd_service";
    case Kind::isr:
      return "isr";
    case Kind::dpc:
      return "dpc";
    case Kind::timer_dpc:
      return "timer_dpc";
    case Kind::io_timer:
      return "io_timer";
    case Kind::event_pair:
      return "event_pair";
  }
  return "unknown";
}

bool has_address(Service::Kind kind) {
  using Kind = Service::Kind;
  return kind == Kind::system_call_address || kind == Kind::isr || kind == Kind::dpc ||
         kind == Kind::timer_dpc || kind == Kind::io_timer;
}

}  // namespace coldtrace::trace_analysis
