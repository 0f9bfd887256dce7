#pragma once

#include <span>
#include <string>

#include "coldtrace/pdb/type_file_comparison.hpp"

namespace coldtrace::cli {

// pe::compare_type_files() with a way to reduce a PDB to the symbol table that "pe isf" makes of
// it.
[[nodiscard]] pe::TypeFileComparison compare_type_files(pe::TypeFile& before, pe::TypeFile& after,
                                                        std::span<const std::string> wanted);

}  // namespace coldtrace::cli
