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

// When it was; nothing of an event without a time, or where the trace has lost its clock.
[[nodiscard]] std::optional<core::FileTime> time_of(const Event& event, const Clock& clock);

// The number of a kind among those of its provider, the opcode of a classic event, and its version.
[[nodiscard]] std::optional<u16> number_of(const EventKind& kind);
[[nodiscard]] std::optional<u8> version_of(const EventKind& kind);

}  // namespace coldtrace::tracefile
