#pragma once

#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::tracefile {

// Whether `image` is the one that a trace knows as `traced`. False where the trace knows none; PDBs
// are compared where both have one.
[[nodiscard]] bool is_traced_image(const TracedImage& image, const TracedImage& traced);

}  // namespace coldtrace::tracefile
