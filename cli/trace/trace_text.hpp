#pragma once

#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/tracefile/event_decoder.hpp"

namespace coldtrace::cli {

// What the lines of traces have in common in all formats.

template <class T>
void append_optional(core::TextBuffer& json, const std::optional<T>& number) {
  if (number)
    json.append_decimal(u64{*number});
  else
    json.append("null");
}

// Lower-case GUID without the temporary that to_string makes.
void append_guid(core::TextBuffer& text, core::ByteView bytes);

bool is_zero(core::ByteView bytes);

// Which members events of a class have.
bool has_id(tracefile::EventClass event_class);
bool has_opcode(const tracefile::Event& event);
bool has_version(tracefile::EventClass event_class);
bool has_level(const tracefile::Event& event);

// The number of a kind among those of its provider, the opcode of a classic event, and its version.
std::optional<u16> number_of(const tracefile::EventKind& kind);
std::optional<u8> version_of(const tracefile::EventKind& kind);

}  // namespace coldtrace::cli
