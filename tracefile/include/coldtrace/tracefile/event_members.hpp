#pragma once

#include <optional>

#include "coldtrace/tracefile/event_decoder.hpp"

namespace coldtrace::tracefile {

// Which members events of a class have.
bool has_id(EventClass event_class);
bool has_opcode(const Event& event);
bool has_version(EventClass event_class);
bool has_level(const Event& event);

// The number of a kind among those of its provider, the opcode of a classic event, and its version.
std::optional<u16> number_of(const EventKind& kind);
std::optional<u8> version_of(const EventKind& kind);

}  // namespace coldtrace::tracefile
