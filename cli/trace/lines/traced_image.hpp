#pragma once

#include "coldtrace/pe/identity.hpp"
#include "coldtrace/tracefile/names/traced_image.hpp"

namespace coldtrace::cli {

// What a trace keeps of an image.
tracefile::TracedImage to_traced_image(const pe::Identity& identity);

}  // namespace coldtrace::cli
