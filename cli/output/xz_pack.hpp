#pragma once

#include <string_view>
#include <vector>

#include "cli/output/output.hpp"

namespace coldtrace::cli {

// Whether this program can pack: built with liblzma.
bool can_pack_xz();

// Writes the text as an .xz file with CRC-64, by the fastest of xz's presets. Throws Failure where
// there is no liblzma or no memory.
void write_xz(Output& output, const std::vector<core::TextBuffer>& pieces);

}  // namespace coldtrace::cli
