#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/json.hpp"
#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text_buffer.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::cli {

// Exact text, as core::decode_exact() makes it of text that may not be valid UTF-16.

using core::distinct_text;
using core::shown_text;

// A member as ExactText of a JsonWriter, behind other members: ,"path":"/a"
void append_exact_text(core::TextBuffer& json, std::string_view name, std::string_view exact);
// A member with an array. Where U+FFFD stands for something, a member with "_utf16" behind its name
// has the units of each, null for those that are valid.
void write_exact_texts(JsonWriter& json, std::string_view name,
                       const std::vector<std::string>& exact);
// A value alone; returns its inexact_units().
[[nodiscard]] std::string append_shown_text(core::TextBuffer& json, std::string_view exact);
// Exact text from a row that shows it and has its units in hexadecimal; nothing where these are the
// units of something else, or there are none.
std::optional<std::string> find_exact_text(std::string_view shown, std::string_view units);
// The units in hexadecimal where U+FFFD stands for something, otherwise nothing.
std::string inexact_units(std::string_view exact);

}  // namespace coldtrace::cli
