#pragma once

#include <string_view>

namespace coldtrace::cli {

// Writes to standard error. What cannot be written there, since it is closed or full, is lost; the
// run goes on and its exit status tells.
void say(std::string_view text);

// Writes to the terminal that standard error is a line that the next message, or the next such
// line, takes the place of.
void say_for_now(std::string_view text);

// Nothing is said from now on.
void fall_silent();

// Takes the places of standard input, output and error that are closed, so that no file which the
// run opens becomes one of them. Reading and writing there fail as before.
void hold_standard_descriptors();

}  // namespace coldtrace::cli
