#include "coldtrace/pdb/type_file.hpp"

#include <utility>

#include "coldtrace/core/unreadable.hpp"
#include "pe/pdb/type_servers.hpp"

namespace coldtrace::pe {
namespace {

bool has_types_elsewhere(const Pdb& pdb) {
  return pdb.dbi() && pdb.dbi()->has_type_servers();
}

// Everything but what the PDB lies in.
core::Expected<TypeFile, SymbolFile::Failure> read_type_file(const std::string& path,
                                                             const core::FileView& file) {
  using Failure = SymbolFile::Failure;
  core::Findings findings;
  auto pdb = Pdb::open(file, findings);
  if (!pdb) return core::fail(Failure::of_other(file, pdb.error()));
  constexpr u32 type_stream = 2;
  TypeTable table;
  if (pdb->msf().stream_size(type_stream).value_or(0) != 0) {
    auto read = TypeTable::read(*pdb, findings);
    if (!read) return core::fail(Failure{read.error(), core::FileKind::pdb});
    table = std::move(*read);
  }
  if (table.count() == 0) findings.info("pdb-no-types", std::nullopt, "the PDB has no types");
  if (has_types_elsewhere(*pdb)) {
    const auto servers = describe_type_servers(*pdb, findings);
    findings.info("pdb-types-elsewhere", std::nullopt,
                  "types of modules are in PDBs of the compiler, and not in this one{}{}",
                  servers.empty() ? "" : ": ", servers);
  }
  core::note_unreadable(file, findings);
  auto identity = PdbIdentity::of(*pdb);
  return TypeFile{
      path, nullptr, std::move(*pdb), std::move(identity), std::move(table), std::move(findings),
      {}};
}

}  // namespace

core::Expected<TypeFile, SymbolFile::Failure> TypeFile::open(const std::string& path) {
  auto file = core::LazyFile::open(path, largest_symbol_file);
  if (!file) return core::fail(SymbolFile::Failure{file.error(), std::nullopt});
  auto types = read_type_file(path, **file);
  if (types) types->file = std::move(*file);
  return types;
}

core::Expected<TypeFile, SymbolFile::Failure> TypeFile::open(const std::string& path,
                                                             std::vector<std::byte> bytes) {
  auto types = read_type_file(path, core::FileView{bytes});
  if (types) types->bytes = std::move(bytes);
  return types;
}

core::Result<TypeTable> read_types(const SymbolFile& file, core::Findings& findings) {
  if (file.pdb && file.file) {
    const core::UnreadableNote note{*file.file, findings};
    return TypeTable::read(*file.pdb, findings);
  }
  if (file.pdb) return TypeTable::read(*file.pdb, findings);
  return TypeTable::of(file.types.records, file.types.pointer_size, findings);
}

bool has_all_types(const SymbolFile& file) {
  if (file.pdb && has_types_elsewhere(*file.pdb)) return false;
  core::Findings ignored;  // told where the types are asked for
  const auto types = read_types(file, ignored);
  return types && types->count() > 0;
}

void note_unproved_types(TypeFile& file, std::string_view change) {
  const bool elsewhere = file.pdb && has_types_elsewhere(*file.pdb);
  if (file.table.count() > 0 && !elsewhere) return;
  file.findings.warning("types-unproved", std::nullopt, "{}: what it lacks is not proved to be {}",
                        elsewhere ? "types are in other PDBs" : "the file has no types", change);
}

}  // namespace coldtrace::pe
