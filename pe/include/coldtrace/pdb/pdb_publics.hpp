#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/pdb_sections.hpp"

namespace coldtrace::pe {

// S_PUB32, or S_PUB32_ST of older linkers, whose names have a length instead of a NUL.
// Source: LLVM, "CodeView Symbol Records", and microsoft-pdb, cvinfo.h, PUBSYM32.
struct PublicSymbol {
  std::string_view name;  // decorated; arbitrary bytes of the file
  u32 flags;
  u16 section;  // counts from 1
  u32 offset;   // in the section
  std::optional<Rva> address;
};

// Bits of PublicSymbol::flags.
inline constexpr u32 public_code = 1;
inline constexpr u32 public_function = 2;
inline constexpr u32 public_managed = 4;
inline constexpr u32 public_msil = 8;

// The public symbols of a PDB.
struct PublicSymbols {
  StreamBytes records;                // the names are views of these or of the file
  std::vector<PublicSymbol> symbols;  // by RVA, then name; those without one follow
};

// All public symbols. They are those to which the address map of the publics stream leads; if it is
// damaged, that is a finding, and every record that is a public symbol counts. Records that cannot
// be read are counted in findings. Source: LLVM, "The PDB Public Symbol Stream" and GSI1/PSGSIHDR
// of microsoft-pdb.
[[nodiscard]] PublicSymbols read_public_symbols(const Pdb& pdb, const PdbSections& sections,
                                                core::Findings& findings);

// Gives them their addresses according to `sections`, and sorts them by these.
void locate(PublicSymbols& publics, const PdbSections& sections);

}  // namespace coldtrace::pe
