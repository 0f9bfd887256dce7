#pragma once

#include <optional>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

struct SymbolRecord {
  core::ByteView bytes;  // from the kind on
  u64 end;               // where the next record begins
};

// The symbol record that begins at `position`; nothing if it does not lie in `records`. In
// references to procedures and data of Visual C++ 6 and earlier (S_PROCREF_ST and the like), the
// name follows the record and is not part of its length. Source: microsoft-pdb, gsi.cpp, and
// observed on files of Visual C++ 4.0 to 6.
[[nodiscard]] std::optional<SymbolRecord> find_symbol(core::ByteView records, u64 position);

}  // namespace coldtrace::pe
