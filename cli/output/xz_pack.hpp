#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::cli {

// Whether this program can pack: it was built with liblzma.
bool can_pack_xz();

// Writes the text as an .xz file with CRC-64, with the fastest of xz's presets. Throws Failure if
// there is no liblzma or no memory.
void write_xz(Output& output, const std::vector<core::TextBuffer>& pieces);

// Unpacks at most `most` bytes from `packed`, the first bytes of an .xz file; fewer if it ends, is
// damaged or needs more memory than what write_xz packs. Empty without liblzma.
std::string unpack_xz_start(core::ByteView packed, std::size_t most);

}  // namespace coldtrace::cli
