#include "coldtrace/syscall-map/kernel_symbols.hpp"

#include <algorithm>

#include "coldtrace/pdb/pdb_types.hpp"
#include "coldtrace/pdb/type_file.hpp"

namespace coldtrace::syscall_map {
namespace {

// What the types of the PDB say of the fields that are looked for; a PDB without types is none the
// worse for it.
std::vector<KnownOffset> to_offsets(const pe::SymbolFile& pdb, const pe::ImageTables& tables,
                                    core::Findings& findings) {
  std::vector<KnownOffset> known;
  auto table = pe::read_types(pdb, findings);
  if (!table) return known;
  const pe::PdbTypes types{std::move(*table)};
  for (auto& field : thread_fields(tables))
    if (const auto offset = types.offset_of(field.structure, field.field, findings)) {
      field.offset = *offset;
      known.push_back(std::move(field));
    }
  return known;
}

}  // namespace

std::vector<NamedPlace> to_places(const pe::SymbolFile& pdb) {
  std::vector<NamedPlace> places;
  for (const auto& symbol : pdb.publics.symbols)
    if (symbol.address) places.push_back({std::string{symbol.name}, *symbol.address});
  return places;
}

KernelSymbols find_kernel_symbols(const pe::ImageTables& tables, const pe::Identity& identity,
                                  std::span<const pe::SymbolFile> files, core::Findings& findings) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const pe::SymbolFile& candidate) {
    return candidate.belongs_to(identity.pdb);
  });
  if (file != files.end())
    return {file->path, to_places(*file), to_offsets(*file, tables, findings), &*file};
  if (!files.empty())
    findings.warning("pdb-mismatch", std::nullopt,
                     "no PDB or symbol table that was given has the GUID and age of this image");
  return {};
}

}  // namespace coldtrace::syscall_map
