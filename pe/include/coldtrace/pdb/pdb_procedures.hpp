#pragma once

#include <functional>
#include <string_view>

#include "coldtrace/pdb/pdb_sections.hpp"

namespace coldtrace::pe {

// A function among the private symbols of a module: S_GPROC32, S_LPROC32 and their kin.
// Source: microsoft-pdb, cvinfo.h, PROCSYM32.
struct Procedure {
  std::string_view name;  // not decorated; bytes of the file, any of them
  Rva address;
  u32 size;  // of its code, in bytes
};

// Hands out the procedures of all modules; a name lives as long as the call. PDBs that are stripped
// of private symbols have none. No more bytes are read than the file has, however many modules
// name the same ones. What cannot be read is a finding.
// Source: LLVM, "The PDB DBI (Debug Info) Stream", Module Info Substream, and "The Module
// Information Stream".
void read_procedures(const Pdb& pdb, const PdbSections& sections,
                     const std::function<void(const Procedure&)>& use, core::Findings& findings);

}  // namespace coldtrace::pe
