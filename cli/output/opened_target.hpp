#pragma once

#include <string>

namespace coldtrace::cli {

// Where links lead, so that a replaced file is not the link itself; if they lead nowhere, the path
// itself below its folder. The result is the same before and after the file exists.
std::string final_path(const std::string& path);

// Examines the file that the output of the run goes to, and opens it if it is written directly: a
// pipe or a device, which the sandbox leaves no right to open, and the file of a descriptor that
// the run was given ("/dev/stdout"), whose owner continues writing after what the run has written.
// Returns why the file cannot be created if that is known already, as when its folder is missing;
// empty otherwise.
[[nodiscard]] std::string open_target(const std::string& path);

// The descriptor of what was opened by open_target(), which the caller then owns, or of the file
// opened now; -1 and errno if it cannot be opened.
int take_target(const std::string& final);

// Whether it was opened by open_target(), and not taken yet.
bool is_opened(const std::string& final);

// Whether what was opened by open_target() is a terminal.
bool is_opened_terminal(const std::string& path);

// Whether nothing existed there when open_target() looked.
bool was_absent(const std::string& final);

}  // namespace coldtrace::cli
