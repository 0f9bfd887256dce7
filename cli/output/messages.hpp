#pragma once

#include <string_view>

namespace coldtrace::cli {

// Writes to standard error. What cannot be written there, because it is closed or full, is lost;
// the run goes on, and its exit status is unaffected.
void say(std::string_view text);

// Writes a line to standard error, a terminal, that the next message or the next such line
// replaces.
void say_for_now(std::string_view text);

// Nothing is written from now on.
void fall_silent();

// Occupies those of the descriptors of standard input, output and error that are closed, so that no
// file opened by the run gets one of them. Reading and writing there still fail.
void hold_standard_descriptors();

}  // namespace coldtrace::cli
