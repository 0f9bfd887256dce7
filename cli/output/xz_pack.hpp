#pragma once

#include <string>
#include <vector>

#include "cli/output/output.hpp"
#include "coldtrace/core/reader.hpp"

namespace coldtrace::cli {

// Whether this program can pack: it was built with liblzma.
bool can_pack_xz();

// Writes the text as an .xz file with CRC-64, with the fastest preset of xz. Throws Failure if
// liblzma is missing or there is no memory.
void write_xz(Output& output, const std::vector<core::TextBuffer>& pieces);

// The first bytes of the content of an .xz file, at most `most` of them; `packed` has its first
// bytes. Fewer if it ends, is damaged or needs more memory than what write_xz packs. Empty without
// liblzma.
std::string unpack_xz_start(core::ByteView packed, std::size_t most);

}  // namespace coldtrace::cli
