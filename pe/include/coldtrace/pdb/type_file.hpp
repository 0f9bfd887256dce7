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
  std::unique_ptr<core::LazyFile> file;  // none if everything is in memory
  std::optional<Pdb> pdb;                // nothing: a symbol table
  PdbIdentity identity;
  TypeTable table;
  core::Findings findings;
  // The types of a symbol table, or a decompressed PDB; viewed by the rest.
  std::vector<std::byte> bytes;

  // A file without types is the finding `pdb-no-types`.
  static core::Expected<TypeFile, SymbolFile::Failure> open(const std::string& path);
  // Decompressed data: a PDB in memory, from the file at `path`.
  static core::Expected<TypeFile, SymbolFile::Failure> open(const std::string& path,
                                                            std::vector<std::byte> bytes);
};

// The types of a PDB or symbol table, which must outlive them. Fails as TypeTable::read does.
core::Result<TypeTable> read_types(const SymbolFile& file, core::Findings& findings);

// Whether the file has types, and none of them in other files: a type that it does not name does
// not exist.
[[nodiscard]] bool has_all_types(const SymbolFile& file);

// Reports `types-unproved` if the file has no types, or has some of them in other files: a type
// that it lacks is then not proved to be `change`, "added" or "removed".
void note_unproved_types(TypeFile& file, std::string_view change);

}  // namespace coldtrace::pe
