#pragma once

#include <cstddef>

namespace coldtrace::tracefile {

// Lets the process have so many files open besides some others, as far as the system's limit for it
// permits: each file of a trace is open while it is read.
void raise_open_files(std::size_t wanted);

}  // namespace coldtrace::tracefile
