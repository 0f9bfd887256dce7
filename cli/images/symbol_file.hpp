#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::cli {

// The placeholder for a symbol file in --help.
inline constexpr const char* symbol_file_help =
    "Program database (PDB 7.00 or 2.00) or symbol table of Volatility 3 (ISF), plain or "
    "compressed (.xz, .gz, .bz2, .zst)";

// Symbol files are PDBs, plain or packed, or what was made from one: symbol tables of Volatility 3.
// On failure `why` is the reason without the path, saying what the file is instead.
std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, std::string& why);
std::optional<pe::TypeFile> open_type_file(const std::string& path, std::string& why);
// The GUID and age that an image must ask for to get the file.
std::optional<pe::PdbReference> identify_symbol_file(const std::string& path, std::string& why);

// As open_symbol_file above; a failure is added to `report`.
std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, Report& report);
std::optional<pe::TypeFile> open_type_file(const std::string& path, Report& report);

// Its GUID; nothing for a PDB 2.00.
[[nodiscard]] std::optional<std::string> guid_text(const pe::PdbIdentity& identity);
// "guid ..., age 1" or, for a PDB 2.00, "signature 0x560b9f0f, age 1".
[[nodiscard]] std::string build_text(const pe::PdbIdentity& identity);

// Those that can be read, with their findings in `report`.
std::vector<pe::SymbolFile> open_symbol_files(const std::vector<std::string>& paths,
                                              Report& report);

}  // namespace coldtrace::cli
