#pragma once

#include <optional>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

struct SymbolRecord {
  core::ByteView bytes;  // from the kind on
  u64 end;               // where the next one begins
};

// The symbol record of the program that begins there; nothing where it does not lie in `records`. A
// name lies behind references to procedures and data of Visual C++ 6 and before (S_PROCREF_ST and
// its like), and is not in their length. Source: microsoft-pdb, gsi.cpp, and observed on files of
// Visual C++ 4.0 to 6.
[[nodiscard]] std::optional<SymbolRecord> find_symbol(core::ByteView records, u64 position);

}  // namespace coldtrace::pe
