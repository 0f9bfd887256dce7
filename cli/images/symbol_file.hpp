#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "coldtrace/pdb/symbol_file.hpp"

namespace coldtrace::cli {

// Says in `report` why there is no PDB at `path`, naming what the file is instead.
void report_no_pdb(const std::string& path, const pe::SymbolFile::Failure& failure, Report& report);

// Reads the file at `path`. On failure says so in `report`.
std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, Report& report);

// The PDBs that can be read, with what is odd about them in `report`.
std::vector<pe::SymbolFile> open_symbol_files(const std::vector<std::string>& paths,
                                              Report& report);

}  // namespace coldtrace::cli
