#pragma once

#include <string>

namespace coldtrace::cli {

// The target of links, so that the file is replaced and not the link; for a dangling link, the path
// itself below its folder. The same before and after the file exists.
std::string final_path(const std::string& path);

// Examines the target of the run's output, and opens it if it is not to be replaced: a pipe or a
// device, which the sandbox would not allow to be opened, or the file of an inherited descriptor
// ("/dev/stdout"), whose owner continues after what the run wrote.
void open_target(const std::string& path);

// The descriptor opened by open_target(), or else opened now, which the caller then owns; -1 and
// errno on failure.
int take_target(const std::string& final);

// Whether it was opened by open_target() and not taken yet.
bool is_opened(const std::string& final);

// Whether open_target() opened a terminal.
bool is_opened_terminal(const std::string& path);

// Whether nothing existed there when open_target() looked.
bool was_absent(const std::string& final);

}  // namespace coldtrace::cli
