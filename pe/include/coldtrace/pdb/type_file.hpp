#pragma once

#include <memory>
#include <string>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// A PDB and its types, which are views of the file.
struct TypeFile {
  std::string path;
  std::unique_ptr<core::LazyFile> file;
  Pdb pdb;
  TypeTable table;
  core::Findings findings;

  // One without types is the finding `pdb-no-types`.
  static core::Expected<TypeFile, SymbolFile::Failure> open(const std::string& path);
};

}  // namespace coldtrace::pe
