#pragma once

#include <optional>
#include <string>

#include "cli/command/report.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::cli {

// Reads the types of the PDB at `path`. On failure says so in `report`.
std::optional<pe::TypeFile> open_type_file(const std::string& path, Report& report);

}  // namespace coldtrace::cli
