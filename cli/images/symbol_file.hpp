#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::cli {

// What stands for a file of symbols in --help.
inline constexpr const char* symbol_file_help =
    "Program database (PDB 7.00 or 2.00) or symbol table of Volatility 3 (ISF), plain or "
    "compressed (.xz, .gz, .bz2, .zst)";

// Files of symbols are PDBs, plain or packed, or what was made of one: symbol tables of
// Volatility 3. On failure `why` is the reason without the path, naming what the file is instead.
std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, std::string& why);
std::optional<pe::TypeFile> open_type_file(const std::string& path, std::string& why);
// What an image must ask for to get the file: GUID and age.
std::optional<pe::PdbReference> identify_symbol_file(const std::string& path, std::string& why);

// The same. On failure says so in `report`.
std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, Report& report);
std::optional<pe::TypeFile> open_type_file(const std::string& path, Report& report);

// Its GUID; nothing of a PDB 2.00.
[[nodiscard]] std::optional<std::string> guid_text(const pe::PdbIdentity& identity);
// "guid ..., age 1", or of a PDB 2.00 "signature 0x560b9f0f, age 1".
[[nodiscard]] std::string build_text(const pe::PdbIdentity& identity);

// Those that can be read, with what is odd about them in `report`.
std::vector<pe::SymbolFile> open_symbol_files(const std::vector<std::string>& paths,
                                              Report& report);

}  // namespace coldtrace::cli
