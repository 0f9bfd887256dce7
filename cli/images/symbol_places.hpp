#pragma once

#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/syscall-map/function_search.hpp"

namespace coldtrace::cli {

// --pdb, which may be repeated.
void add_pdb_option(Command& command, std::vector<std::string>& pdbs);

// The files given with --pdb: each image asks the one that was linked with it.
class SymbolPlaces {
 public:
  SymbolPlaces(const std::vector<std::string>& paths, Report& report);

  // Where the public symbol of this name is, by the PDB with the image's GUID and age. That there
  // is none in it, or more than one, is a finding.
  std::optional<syscall_map::NamedPlace> find(const pe::Identity& identity, std::string_view name,
                                              core::Findings& findings);

  // All public symbols of that PDB that have an address.
  std::vector<syscall_map::NamedPlace> all(const pe::Identity& identity);

  // To be called when all images have asked: a file that none of them belongs to is a warning.
  void finish(Report& report);

  // "pdbs", an array.
  void write(JsonWriter& json) const;

 private:
  // The PDB of the image; null where none that was given is.
  const pe::SymbolFile* find_file(const pe::Identity& identity);

  std::vector<pe::SymbolFile> files_;
  std::optional<pe::PdbReference> last_reference_;  // of an image that found no file
};

}  // namespace coldtrace::cli
