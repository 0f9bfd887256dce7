#pragma once

#include "cli/output/json.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::cli {

// A symbol table for Volatility 3, format 6.2.0. `database` is what the image calls its PDB: by it,
// GUID and age the table is found.
void write_isf(JsonWriter& json, const pe::SymbolFile& file, const pe::TypeTable& table,
               std::string_view database, core::Findings& findings);

}  // namespace coldtrace::cli
