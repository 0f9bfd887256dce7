#pragma once

#include <optional>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text_buffer.hpp"

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

}  // namespace coldtrace::cli
