#pragma once

#include <memory>
#include <optional>
#include <string>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/result.hpp"
#include "coldtrace/pdb/pdb_publics.hpp"

namespace coldtrace::pe {

// Larger than the symbols of any Windows file; those of browsers come near.
inline constexpr u64 largest_symbol_file = u64{4} << 30;

// A PDB and its public symbols, which are views of the file.
struct SymbolFile {
  std::string path;
  std::unique_ptr<core::LazyFile> file;
  Pdb pdb;
  PdbSections sections;
  PublicSymbols publics;
  core::Findings findings;
  std::optional<bool> matches_image;  // nothing: there is no image to compare

  // Why a file is none.
  struct Failure {
    core::ParseError error;
    std::optional<core::FileKind> kind;  // absent where it could not be opened
  };
  static core::Expected<SymbolFile, Failure> open(const std::string& path);

  // What an image must ask for to get the file at `path`: GUID and age, without a name.
  static core::Expected<PdbReference, Failure> identify(const std::string& path);

  bool belongs_to(const std::optional<PdbReference>& reference) const {
    return reference && pdb.matches(*reference);
  }

  // Sets `matches_image` by what an image asks for; that it asks for another file is a finding.
  void compare(const std::optional<PdbReference>& reference);
};

}  // namespace coldtrace::pe
