#pragma once

#include <string_view>

namespace coldtrace::cli {

// Writes to standard error. What cannot be written because it is closed or full is lost; the run
// goes on, and its exit status still counts.
void say(std::string_view text);

// Writes a line to the terminal that is standard error; the next message, or the next such line,
// replaces it.
void say_for_now(std::string_view text);

// Nothing is written from now on.
void fall_silent();

// Occupies the descriptors of standard input, output and error that are closed, so that no file
// which the run opens becomes one of them. Reading and writing there fail as before.
void hold_standard_descriptors();

}  // namespace coldtrace::cli
