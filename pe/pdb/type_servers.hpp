#pragma once

#include <string>
#include <vector>

#include "coldtrace/pdb/pdb.hpp"

namespace coldtrace::pe {

// A PDB of the compiler that has types of modules (vc50.pdb, vc60.pdb), which Visual C++ 5 and 6
// left there. Source: TSM of microsoft-pdb, PDB/dbi/dbi.h; observed on PDBs of Visual C++ 6.
struct TypeServer {
  u32 signature;
  u32 age;           // of the oldest file that has the types
  std::string path;  // where it was, at most `longest_module` bytes

  bool operator==(const TypeServer&) const = default;
};

// Each once, in the order of the file, without the PDB itself, which the linker names too. A map
// that ends inside an entry is the finding `pdb-stream`.
[[nodiscard]] std::vector<TypeServer> read_type_servers(const Pdb& pdb, core::Findings& findings);

// "c:\a\vc60.pdb (signature 0x55cd3900, age 2)" and the like of those that read_type_servers()
// gives, eight at most; empty where there is none.
[[nodiscard]] std::string describe_type_servers(const Pdb& pdb, core::Findings& findings);

}  // namespace coldtrace::pe
