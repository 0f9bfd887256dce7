#pragma once

#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::pe {

// Why a table is none that can be used: a literal.
using IsfFailure = core::Name;

// Which PDB the table was made of. Fails where the table is of no Windows PDB, or of a format that
// is not known.
core::Expected<PdbIdentity, IsfFailure> identify_isf(const IsfTable& table);

// The table as the PDB that it was made of: its symbols as public ones, its types as records, which
// TypeTable then reads. Entries that are not as the format has them are left out and counted in the
// finding `isf-entry`; a member keeps its place where its type alone cannot be used. The table is
// not needed afterwards.
core::Expected<SymbolFile, IsfFailure> to_symbol_file(const std::string& path,
                                                      const IsfTable& table);
core::Expected<TypeFile, IsfFailure> to_type_file(const std::string& path, const IsfTable& table);

}  // namespace coldtrace::pe
