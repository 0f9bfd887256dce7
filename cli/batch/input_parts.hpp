#pragma once

#include <string>
#include <vector>

namespace coldtrace::cli {

// The files that an input is read from as one: the parts of a split image, the segments of an
// EnCase image; otherwise itself alone. Those that another one refers to (a disk's parent) are not
// among them.
std::vector<std::string> list_input_parts(const std::string& path);

// Whether it is a part that is read with another file, the first.
bool is_later_part(const std::string& path);

}  // namespace coldtrace::cli
