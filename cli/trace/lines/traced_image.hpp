#pragma once

#include "coldtrace/pe/loaded_file.hpp"
#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::cli {

// What a trace keeps of an image.
tracefile::TracedImage to_traced_image(const pe::Identity& identity);

// What a trace says of an image, to be compared with a file.
pe::LoadedFile to_loaded_file(const tracefile::TracedImage& image);

}  // namespace coldtrace::cli
