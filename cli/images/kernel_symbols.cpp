#include "cli/images/kernel_symbols.hpp"

#include <algorithm>

#include "coldtrace/pe/pdb_types.hpp"

namespace coldtrace::cli {
namespace {

// What the types of the PDB say of the fields that are looked for; a PDB without types is none the
// worse for it.
std::vector<syscall_map::KnownOffset> to_offsets(const SymbolFile& pdb, const pe::Image& image,
                                                 core::Findings& findings) {
  std::vector<syscall_map::KnownOffset> known;
  const auto types = pe::PdbTypes::read(pdb.pdb, findings);
  if (!types) return known;
  for (auto& field : syscall_map::thread_fields(image))
    if (const auto offset = types->offset_of(field.structure, field.field, findings)) {
      field.offset = *offset;
      known.push_back(std::move(field));
    }
  return known;
}

}  // namespace

std::vector<syscall_map::NamedPlace> to_places(const SymbolFile& pdb) {
  std::vector<syscall_map::NamedPlace> places;
  for (const auto& symbol : pdb.publics.symbols)
    if (symbol.address) places.push_back({std::string{symbol.name}, *symbol.address});
  return places;
}

std::vector<SymbolFile> open_symbol_files(const std::vector<std::string>& paths, Report& report) {
  std::vector<SymbolFile> files;
  for (const auto& path : paths)
    if (auto file = open_symbol_file(path, report)) {
      report.read(path, file->findings);
      files.push_back(std::move(*file));
    }
  return files;
}

KernelSymbols symbols_of(const pe::Image& image, const pe::Identity& identity,
                         const std::vector<SymbolFile>& files, core::Findings& findings) {
  const auto file = std::find_if(files.begin(), files.end(), [&](const SymbolFile& candidate) {
    return identity.pdb && candidate.pdb.matches(*identity.pdb);
  });
  if (file != files.end())
    return {file->path, to_places(*file), to_offsets(*file, image, findings)};
  if (!files.empty())
    findings.warning("pdb-mismatch", std::nullopt,
                     "no PDB that was given has the GUID and age of this image");
  return {};
}

}  // namespace coldtrace::cli
