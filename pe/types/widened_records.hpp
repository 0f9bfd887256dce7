#pragma once

#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::pe {

// Type records with 16-bit indexes, as in PDBs of Visual C++ 4 (LF_..._16t), converted to the ones
// with 32 bits that replaced them in Visual C++ 5 (LF_..._ST), one for one, so that indexes stay
// valid. A record that defines no type becomes LF_SKIP; one that cannot be read stays as it is, and
// an unreadable entry of a field list ends the list. Source: microsoft-pdb, cvinfo.h,
// lfModifier_16t and those after it.
struct WidenedRecords {
  std::vector<std::byte> bytes;
  std::vector<u64> ends;  // of each record in `bytes`
  u64 read = 0;           // input bytes read, up to the first truncated record
};
[[nodiscard]] WidenedRecords widen_records(core::ByteView records);

}  // namespace coldtrace::pe
