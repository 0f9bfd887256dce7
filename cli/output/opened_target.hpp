#pragma once

#include <string>

namespace coldtrace::cli {

// Where links lead, so that what takes the file's place does not take the link's; where they lead
// nowhere, the path itself below its folder. The same before and after a file is there.
std::string final_path(const std::string& path);

// Looks at the file that the output of the run goes to, and opens it where it is written as it is:
// a pipe or a device, which the sandbox keeps no right to open, and the file of a descriptor that
// the run was given ("/dev/stdout"), whose owner writes on behind what the run has written. Returns
// why no file can be made, where that is known already, as its folder is missing; empty otherwise.
[[nodiscard]] std::string open_target(const std::string& path);

// The descriptor of what was opened so, which is the caller's then, or else opened now; -1 and
// errno where it cannot be.
int take_target(const std::string& final);

// Whether it was opened so, and not taken yet.
bool is_opened(const std::string& final);

// Whether what was opened so is a terminal.
bool is_opened_terminal(const std::string& path);

// Whether nothing was there when open_target() looked.
bool was_absent(const std::string& final);

}  // namespace coldtrace::cli
