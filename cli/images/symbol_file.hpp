#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/command/report.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/pe/pdb_publics.hpp"

namespace coldtrace::cli {

// A PDB and its public symbols, which are views of the file.
struct SymbolFile {
  std::string path;
  std::unique_ptr<core::LazyFile> file;
  pe::Pdb pdb;
  pe::PdbSections sections;
  pe::PublicSymbols publics;
  core::Findings findings;
  std::optional<bool> matches_image;  // nothing: there is no image to compare

  // Says whether an image with this reference belongs to the file; that it does not is a finding.
  void compare(const std::optional<pe::PdbReference>& reference);
};

// Reads the file at `path`. On failure says so in `report`, naming what the file is instead.
std::optional<SymbolFile> open_symbol_file(const std::string& path, Report& report);

}  // namespace coldtrace::cli
