#pragma once

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pe/image.hpp"

namespace coldtrace::pe {

// Whether an image for `image` may have such a file. A file without a machine may belong to any
// image, and images with code for two machines (ARM64EC, ARM64X, CHPE) name one of them.
[[nodiscard]] bool fits_machine(const PdbIdentity& identity, Machine image);

// Whether the image refers to the file and is for its machine.
[[nodiscard]] bool belongs_to(const SymbolFile& file, const std::optional<PdbReference>& reference,
                              Machine image);

// As SymbolFile::compare(); in addition, a file for another machine does not belong to the image.
void compare_with_image(SymbolFile& file, const std::optional<PdbReference>& reference,
                        Machine image);

// The same; a file that belongs to the image uses its sections.
void join_with_image(SymbolFile& file, const Image& image,
                     const std::optional<PdbReference>& reference);

}  // namespace coldtrace::pe
