#pragma once

#include <functional>
#include <string_view>

#include "coldtrace/pdb/pdb_sections.hpp"

namespace coldtrace::pe {

// A function among the private symbols of a module: S_GPROC32, S_LPROC32 and related kinds; or code
// of one that the linker has placed elsewhere because it rarely runs, S_SEPCODE. Source:
// microsoft-pdb, cvinfo.h, PROCSYM32 and SEPCODESYM.
struct Procedure {
  enum class Kind : u8 { global, local, cold_part };
  std::string_view name;  // undecorated, arbitrary bytes of the file; for a part, the function's
  Rva address;
  u32 size;  // of its code, in bytes
  Kind kind;
  u16 section;
  u32 offset;
  std::string_view module;  // its PdbModule::name
  u32 type;                 // its record; 0 for parts, and if private symbols were stripped
  bool by_identifier;       // `type` is one of the IPI stream, an LF_FUNC_ID or LF_MFUNC_ID
};

// Calls back for the procedures of all modules, the parts of a module after its procedures; texts
// are valid during the call. PDBs stripped of private symbols have few or none. At most as many
// bytes are read as the file has, however many modules refer to the same ones, and names of parts
// together are no longer than the file. What cannot be read is a finding. Source: LLVM, "The PDB
// DBI (Debug Info) Stream", Module Info Substream, and "The Module Information Stream".
void read_procedures(const Pdb& pdb, const PdbSections& sections,
                     const std::function<void(const Procedure&)>& use, core::Findings& findings);

}  // namespace coldtrace::pe
