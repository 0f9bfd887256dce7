#include "tracefile/where/header_members.hpp"

#include "coldtrace/tracefile/events/header_type.hpp"
#include "coldtrace/tracefile/providers/event_members.hpp"
#include "coldtrace/tracefile/providers/extended_data.hpp"

namespace coldtrace::tracefile {
namespace {

Subject number(u64 value) {
  return {.number = Number::of(value)};
}

template <class T>
Subject maybe_number(const std::optional<T>& value) {
  return value ? number(u64{*value}) : Subject{};
}

}  // namespace

std::optional<Subject> read_header_member(WhereMember member, const Event& event) {
  switch (member) {
    case WhereMember::timestamp:
      return event.has_time ? Subject{.number = Number::of(event.timestamp)} : Subject{};
    case WhereMember::cpu:
      return maybe_number(event.cpu);
    case WhereMember::pid:
      return maybe_number(event.pid);
    case WhereMember::tid:
      return maybe_number(event.tid);
    case WhereMember::provider_guid:
      return Subject{.guid = provider_of(event)};
    case WhereMember::id:
      return has_id(event.event_class) ? number(event.id) : Subject{};
    case WhereMember::version:
      return has_version(event.event_class) ? number(event.version) : Subject{};
    case WhereMember::opcode:
      return has_opcode(event) ? number(event.opcode) : Subject{};
    case WhereMember::level:
      return has_level(event) ? number(event.level) : Subject{};
    case WhereMember::keywords:
      return event.event_class == EventClass::manifest ? number(event.keywords) : Subject{};
    case WhereMember::activity:
      return Subject{.guid = activity_of(event)};
    case WhereMember::header_type:
      return Subject{.text = event.event_class == EventClass::driver
                                 ? "entry"
                                 : to_string(static_cast<HeaderType>(event.header_type))};
    case WhereMember::header_buffer:
      return number(event.buffer_offset);
    case WhereMember::header_offset:
      return number(event.offset);
    case WhereMember::header_size:
      return number(event.size);
    case WhereMember::header_payload_size:
      return number(event.payload.size());
    case WhereMember::header_pointer_size:
      return number(event.pointer_size);
    case WhereMember::header_channel:
      return number(event.channel);
    case WhereMember::header_task:
      return number(event.task);
    case WhereMember::header_kernel_time:
      return maybe_number(event.kernel_time);
    case WhereMember::header_user_time:
      return maybe_number(event.user_time);
    case WhereMember::header_processor_time:
      return maybe_number(find_processor_time(event));
    default:
      return std::nullopt;
  }
}

}  // namespace coldtrace::tracefile
