#pragma once

#include <cstddef>
#include <string>

#include <rapidjson/document.h>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// Sets the width of the terminal, before any text: on a narrow one the date and the thread are left
// out, and the process name is beside the id, so that fields have room. A provider's name is cut
// before that of its event is. 0: no terminal.
void fit_event_text(std::size_t columns);

// The heading for the columns of append_event_text().
std::string event_text_heading();

// One line for people, made from the object of an event or a gap of `trace decode`: time,
// process and thread, process name, event, and the provider's message for it, or else its fields
// with what their values stand for. Without files, stacks and the members of --header-fields.
void append_event_text(core::TextBuffer& text, rapidjson::Value& event);

}  // namespace coldtrace::cli
