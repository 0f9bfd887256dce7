#pragma once

#include "coldtrace/pe/loaded_file.hpp"
#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::cli {

// What a trace records of an image.
tracefile::TracedImage to_traced_image(const pe::Identity& identity);

// What a trace says about an image, for comparison with a file.
pe::LoadedFile to_loaded_file(const tracefile::TracedImage& image);

}  // namespace coldtrace::cli
