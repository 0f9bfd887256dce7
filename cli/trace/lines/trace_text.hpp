#pragma once

#include <optional>

#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// What is common to the lines of traces in all formats.

template <class T>
void append_optional(core::TextBuffer& json, const std::optional<T>& number) {
  if (number)
    json.append_decimal(u64{*number});
  else
    json.append("null");
}

// Appends a lower-case GUID, without the temporary of to_string().
void append_guid(core::TextBuffer& text, core::ByteView bytes);

}  // namespace coldtrace::cli
