#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/pdb/symbol_file.hpp"
#include "coldtrace/pdb/type_table.hpp"

namespace coldtrace::pe {

// A PDB and its types, which are views of the file, or those of a symbol table of Volatility 3:
// isf_file.hpp.
struct TypeFile {
  std::string path;
  std::unique_ptr<core::LazyFile> file;  // none of what is in memory as a whole
  std::optional<Pdb> pdb;                // nothing: a symbol table
  PdbIdentity identity;
  TypeTable table;
  core::Findings findings;
  // Of a symbol table its types, of what was packed the PDB: what the rest is views of.
  std::vector<std::byte> bytes;

  // One without types is the finding `pdb-no-types`.
  static core::Expected<TypeFile, SymbolFile::Failure> open(const std::string& path);
  // What was packed: a PDB in memory, of the file at `path`.
  static core::Expected<TypeFile, SymbolFile::Failure> open(const std::string& path,
                                                            std::vector<std::byte> bytes);
};

// The types of a PDB or symbol table, which must outlive them. Fails as TypeTable::read does.
core::Result<TypeTable> read_types(const SymbolFile& file, core::Findings& findings);

// Whether the file has types, and none of them in other files: what it does not name is not there.
[[nodiscard]] bool has_all_types(const SymbolFile& file);

// Tells `types-unproved` where the file has no types, or has some of them in other files: what it
// lacks is not proved to be `change`, "added" or "removed".
void note_unproved_types(TypeFile& file, std::string_view change);

}  // namespace coldtrace::pe
