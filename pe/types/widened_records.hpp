#pragma once

#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// Type records with indexes of 16 bits, as PDBs of Visual C++ 4 have them (LF_..._16t), made those
// with 32 bits that took their place in Visual C++ 5 (LF_..._ST), one of each, so that indexes
// stay. A record that defines no type becomes LF_SKIP; one that cannot be read stays as it is, and
// an entry of a field list that cannot ends the list where it stands. Source: microsoft-pdb,
// cvinfo.h, lfModifier_16t and those after it.
struct WidenedRecords {
  std::vector<std::byte> bytes;
  std::vector<u64> ends;  // of each record in `bytes`
  u64 read = 0;           // of what was given, up to the first record that is cut off
};
[[nodiscard]] WidenedRecords widen_records(core::ByteView records);

}  // namespace coldtrace::pe
