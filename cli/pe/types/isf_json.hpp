#pragma once

#include "cli/output/json.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_table.hpp"
#include "coldtrace/pe/version_info.hpp"

namespace coldtrace::cli {

// A symbol table for Volatility 3, format 6.2.0. `database` is the image's name for its PDB: the
// table is found by it, GUID and age. `version` is that of the image, if known.
void write_isf(JsonWriter& json, const pe::SymbolFile& file, const pe::TypeTable& table,
               std::string_view database, const std::optional<pe::VersionNumber>& version,
               core::Findings& findings);

// The table's member "metadata".
void write_isf_metadata(JsonWriter& json, const pe::PdbIdentity& identity,
                        std::string_view database, const std::optional<pe::VersionNumber>& version);

}  // namespace coldtrace::cli
