#pragma once

#include <optional>

#include "coldtrace/tracefile/events/clock.hpp"
#include "coldtrace/tracefile/providers/event_decoder.hpp"

namespace coldtrace::tracefile {

// Which members events of a class have.
[[nodiscard]] bool has_id(EventClass event_class);
[[nodiscard]] bool has_opcode(const Event& event);
[[nodiscard]] bool has_version(EventClass event_class);
[[nodiscard]] bool has_level(const Event& event);

// The provider of an event; nothing for an entry of a .ctrace file whose GUID is zero, since it
// needs none.
[[nodiscard]] std::optional<core::Guid> provider_of(EventClass event_class, const core::Guid& guid);
[[nodiscard]] std::optional<core::Guid> provider_of(const Event& event);
[[nodiscard]] std::optional<core::Guid> provider_of(const EventKind& kind);

// The activity that an event belongs to; nothing if its header has none, or zeros.
[[nodiscard]] std::optional<core::Guid> activity_of(const Event& event);

// When it happened; nothing for an event without a time, or if the trace has lost its clock.
[[nodiscard]] std::optional<core::FileTime> time_of(const Event& event, const Clock& clock);

// The number of a kind among those of its provider, the opcode of a classic event, and its version.
[[nodiscard]] std::optional<u16> number_of(const EventKind& kind);
[[nodiscard]] std::optional<u8> version_of(const EventKind& kind);

}  // namespace coldtrace::tracefile
