#pragma once

#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::pe {

// Why a table cannot be used: a literal.
using IsfFailure = core::Name;

// Which PDB the table was made from. Fails if the table is not for a Windows PDB, or has an unknown
// format.
core::Expected<PdbIdentity, IsfFailure> identify_isf(const IsfTable& table);

// The table as the PDB from which it was made: its symbols as public ones, its types as records,
// which TypeTable then reads. Entries that violate the format are left out and counted in the
// finding `isf-entry`; a member keeps its place if only its type cannot be used. The table is not
// needed afterwards.
core::Expected<SymbolFile, IsfFailure> to_symbol_file(const std::string& path,
                                                      const IsfTable& table);
core::Expected<TypeFile, IsfFailure> to_type_file(const std::string& path, const IsfTable& table);

}  // namespace coldtrace::pe
