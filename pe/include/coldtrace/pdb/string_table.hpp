#pragma once

#include <optional>
#include <string_view>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// The number of the stream that the info stream calls so: "/names". Nothing: it has none of the
// name, or its list cannot be read. Source: LLVM, "The PDB Info Stream", Named Stream Map.
[[nodiscard]] std::optional<u32> find_named_stream(const Pdb& pdb, std::string_view name);

// Texts that other streams name by their place in the stream "/names". Source: LLVM, "The PDB
// String Table"; microsoft-pdb, PDB/misc/nmt.h.
class StringTable {
 public:
  // An empty one where there is none, or it cannot be read; the latter is the finding `pdb-stream`.
  [[nodiscard]] static StringTable read(const Pdb& pdb, core::Findings& findings);

  // Nothing: there is no such text.
  [[nodiscard]] std::optional<std::string_view> find(u32 place) const;

 private:
  StreamBytes stream_;
  core::ByteView texts_;
};

}  // namespace coldtrace::pe
