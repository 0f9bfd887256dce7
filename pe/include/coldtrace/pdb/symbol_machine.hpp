#pragma once

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// Whether an image for `image` may have such a file. One that does not say its machine may be any
// image's, and images with code of two machines (ARM64EC, ARM64X, CHPE) name one of them.
[[nodiscard]] bool fits_machine(const PdbIdentity& identity, Machine image);

// Whether the image asks for the file and is for its machine.
[[nodiscard]] bool belongs_to(const SymbolFile& file, const std::optional<PdbReference>& reference,
                              Machine image);

// As SymbolFile::compare(), and a file of another machine is none of the image's.
void compare_with_image(SymbolFile& file, const std::optional<PdbReference>& reference,
                        Machine image);

// The same, and a file that is the image's takes its sections.
void join_with_image(SymbolFile& file, const Image& image,
                     const std::optional<PdbReference>& reference);

}  // namespace coldtrace::pe
