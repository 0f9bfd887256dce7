#pragma once

#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/syscall-map/function_search.hpp"

namespace coldtrace::cli {

// --pdb, which may be repeated.
void add_pdb_option(Command& command, std::vector<std::string>& pdbs);

// The files given with --pdb: each image asks those that were made with it.
class SymbolPlaces {
 public:
  SymbolPlaces(const std::vector<std::string>& paths, Report& report);

  // Where the public symbol of this name is, by all files with the image's GUID and age. That
  // there is none in them, or that it is at several places, is a finding.
  std::optional<syscall_map::NamedPlace> find(const pe::Image& image, const pe::Identity& identity,
                                              std::string_view name, core::Findings& findings);

  // All public symbols of these files that have an address, each once.
  std::vector<syscall_map::NamedPlace> all(const pe::Image& image, const pe::Identity& identity);

  // To be called when all images have asked: a file that none of them belongs to is a warning.
  void finish(Report& report);

  // "pdbs", an array.
  void write(JsonWriter& json) const;

 private:
  // The PDBs of the image, and symbol tables made of them, as they were given; with its sections
  // where they have none.
  std::vector<const pe::SymbolFile*> find_files(const pe::Image& image,
                                                const pe::Identity& identity);

  std::vector<pe::SymbolFile> files_;
  struct {
    std::optional<pe::PdbReference> pdb;
    pe::Machine machine{};
  } last_image_;  // that found no file
};

}  // namespace coldtrace::cli
