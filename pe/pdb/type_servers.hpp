#pragma once

#include <string>
#include <vector>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// A compiler PDB in which Visual C++ 5 and 6 left types of modules (vc50.pdb, vc60.pdb). Source:
// TSM of microsoft-pdb, PDB/dbi/dbi.h; observed on PDBs of Visual C++ 6.
struct TypeServer {
  u32 signature;
  u32 age;           // of the oldest file that has the types
  std::string path;  // where it was, at most `longest_module` bytes

  bool operator==(const TypeServer&) const = default;
};

// Each once, in file order, without the PDB itself, which the linker lists too. A map that ends
// inside an entry is the finding `pdb-stream`.
[[nodiscard]] std::vector<TypeServer> read_type_servers(const Pdb& pdb, core::Findings& findings);

// "c:\a\vc60.pdb (signature 0x55cd3900, age 2)" for up to eight of those that read_type_servers()
// gives; empty if there are none.
[[nodiscard]] std::string describe_type_servers(const Pdb& pdb, core::Findings& findings);

}  // namespace coldtrace::pe
