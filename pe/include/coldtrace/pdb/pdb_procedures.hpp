#pragma once

#include <functional>
#include <string_view>

#include "coldtrace/pdb/pdb_sections.hpp"

namespace coldtrace::pe {

// A function among the private symbols of a module: S_GPROC32, S_LPROC32 and their kin; or code of
// one that the linker has put elsewhere since it seldom runs, S_SEPCODE.
// Source: microsoft-pdb, cvinfo.h, PROCSYM32 and SEPCODESYM.
struct Procedure {
  enum class Kind : u8 { global, local, cold_part };
  std::string_view name;  // not decorated; bytes of the file, any of them; of a part the function's
  Rva address;
  u32 size;  // of its code, in bytes
  Kind kind;
  u16 section;
  u32 offset;
  std::string_view module;  // its PdbModule::name
  u32 type;                 // its record; 0 of parts, and where private symbols were taken away
  bool by_identifier;       // `type` is one of the IPI stream, an LF_FUNC_ID or LF_MFUNC_ID
};

// Hands out the procedures of all modules, the parts of a module behind its procedures; texts live
// as long as the call. PDBs that are stripped of private symbols have few or none. No more bytes
// are read than the file has, however many modules name the same ones, and names of parts together
// are no longer than the file. What cannot be read is a finding. Source: LLVM, "The PDB DBI (Debug
// Info) Stream", Module Info Substream, and "The Module Information Stream".
void read_procedures(const Pdb& pdb, const PdbSections& sections,
                     const std::function<void(const Procedure&)>& use, core::Findings& findings);

}  // namespace coldtrace::pe
