#include "coldtrace/syscall-map/kernel_symbols.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "coldtrace/core/symbol_name.hpp"
#include "coldtrace/pdb/pdb_types.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "syscall-map/code/kernel_code.hpp"
#include "syscall-map/context-switch/symbol_agreement.hpp"

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
                                  std::span<pe::SymbolFile> files, core::Findings& findings) {
  KernelSymbols found;
  for (auto& file : files) {
    if (!pe::belongs_to(file, identity.pdb, identity.machine)) continue;
    file.take_sections(tables.image().sections());
    found.files.push_back(&file);
  }
  if (found.files.empty()) {
    if (!files.empty())
      findings.warning("pdb-mismatch", std::nullopt,
                       "no given PDB or symbol table has the GUID, age and machine of this image");
    return found;
  }
  found.path = found.files.front()->path;
  const auto disagreement = compare_symbol_files(found.files, findings);
  std::set<std::pair<std::string, pe::Rva>> known;
  std::map<std::pair<std::string, std::string>, std::set<u32>> offsets;
  for (const auto* const file : found.files) {
    for (auto& place : to_places(*file)) {
      if (disagreement.symbols.contains(core::undecorated(place.name))) continue;
      if (found.files.size() > 1 && !known.emplace(place.name, place.rva).second) continue;
      found.places.push_back(std::move(place));
    }
    for (auto& field : to_offsets(*file, tables, findings)) {
      auto& places = offsets[{field.structure, field.field}];
      places.insert(field.offset);
      if (places.size() == 1 && std::ranges::find(found.types, field) == found.types.end())
        found.types.push_back(std::move(field));
    }
  }
  std::erase_if(found.types, [&](const KnownOffset& field) {
    return offsets[{field.structure, field.field}].size() > 1;
  });
  return found;
}

}  // namespace coldtrace::syscall_map
