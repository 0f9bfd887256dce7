#include "coldtrace/tracefile/providers/event_members.hpp"

namespace coldtrace::tracefile {

bool has_id(EventClass event_class) {
  return event_class == EventClass::manifest || event_class == EventClass::message ||
         event_class == EventClass::driver;
}

bool has_opcode(const Event& event) {
  return event.event_class == EventClass::classic || event.event_class == EventClass::manifest;
}

bool has_version(EventClass event_class) {
  return event_class == EventClass::classic || event_class == EventClass::manifest ||
         event_class == EventClass::driver;
}

bool has_level(const Event& event) {
  return !event.kernel_group && has_opcode(event);
}

std::optional<core::Guid> provider_of(EventClass event_class, const core::Guid& guid) {
  if (event_class == EventClass::driver && guid == core::Guid{}) return std::nullopt;
  return guid;
}

std::optional<core::Guid> provider_of(const Event& event) {
  return provider_of(event.event_class, event.provider);
}

std::optional<core::Guid> provider_of(const EventKind& kind) {
  return provider_of(kind.event_class, kind.provider);
}

std::optional<core::Guid> activity_of(const Event& event) {
  const auto guid = core::to_guid(event.activity);
  return guid == core::Guid{} ? std::nullopt : std::optional{guid};
}

std::optional<core::FileTime> time_of(const Event& event, const Clock& clock) {
  if (event.file_time != 0) return core::FileTime{event.file_time};
  return event.has_time ? clock.find_file_time(event.timestamp) : std::nullopt;
}

std::optional<u16> number_of(const EventKind& kind) {
  const bool numbered = has_id(kind.event_class) || kind.event_class == EventClass::classic;
  return numbered ? std::optional{kind.id} : std::nullopt;
}

std::optional<u8> version_of(const EventKind& kind) {
  return has_version(kind.event_class) ? std::optional{kind.version} : std::nullopt;
}

}  // namespace coldtrace::tracefile
