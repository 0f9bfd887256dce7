#pragma once

#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/syscall-map/trace-points/image_symbols.hpp"

namespace coldtrace::cli {

// --pdb, which may be repeated.
void add_pdb_option(Command& command, std::vector<std::string>& pdbs);

// The files given with --pdb. Files that cannot be read are reported to `report`.
syscall_map::ImageSymbols open_image_symbols(const std::vector<std::string>& paths, Report& report);

// To be called when all images have asked: reports what was found in each file.
void tell_image_symbols(syscall_map::ImageSymbols& symbols, Report& report);

// "pdbs", an array.
void write_image_symbols(JsonWriter& json, const syscall_map::ImageSymbols& symbols);

}  // namespace coldtrace::cli
