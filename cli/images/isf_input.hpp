#pragma once

#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/pdb/isf_table.hpp"

namespace coldtrace::cli {

// Larger than the JSON of any Windows symbol table: that of a kernel is 7 MB.
inline constexpr u64 largest_isf = u64{64} << 20;

// A symbol table, and the text to which its views refer.
struct IsfInput {
  std::string text;
  pe::IsfTable table;
};

// Whether a file of the kind may be one: JSON, plain or packed.
bool may_be_isf(core::FileKind kind);

// Reads the symbol table in a file of that kind, plain or packed (xz, gzip, bzip2, zstd), of at
// most `largest_isf` unpacked bytes. Fails with a sentence.
core::Expected<IsfInput, std::string> open_isf(const core::ImageSource& file, core::FileKind kind);

}  // namespace coldtrace::cli
