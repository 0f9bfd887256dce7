#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coldtrace/core/text_buffer.hpp"

namespace coldtrace::cli {

// For a terminal so wide, before any text: on a narrow one times are of the day alone, the process
// stands beside its id, and threads are left out, so that fields have room. 0: for no terminal.
void fit_event_text(std::size_t columns);

// What the columns of append_event_text() are.
std::string event_text_heading();

// One line for people, made of the JSON line of an event or a gap of `trace decode`: time, process
// and thread, process name, event, and the sentence that the provider has for it, or else its
// fields with what their values stand for. Files, stacks and members that --header-fields adds are
// not in it.
void append_event_text(core::TextBuffer& text, std::string_view json);

}  // namespace coldtrace::cli
