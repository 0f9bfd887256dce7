#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// The number of the stream with this name in the info stream: "/names". Nothing: there is no such
// name, or the list cannot be read. Source: LLVM, "The PDB Info Stream", Named Stream Map.
[[nodiscard]] std::optional<u32> find_named_stream(const Pdb& pdb, std::string_view name);

// Texts to which other streams refer by their offset in the stream "/names". Source: LLVM, "The PDB
// String Table"; microsoft-pdb, PDB/misc/nmt.h.
class StringTable {
 public:
  // Empty if there is none, or it cannot be read; the latter is the finding `pdb-stream`.
  [[nodiscard]] static StringTable read(const Pdb& pdb, core::Findings& findings);

  // Nothing: there is no such text.
  [[nodiscard]] std::optional<std::string_view> find(u32 place) const;

 private:
  StreamBytes stream_;
  core::ByteView texts_;
};

}  // namespace coldtrace::pe
