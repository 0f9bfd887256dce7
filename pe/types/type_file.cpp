#include "coldtrace/pdb/type_file.hpp"

#include <utility>

#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {

core::Expected<TypeFile, SymbolFile::Failure> TypeFile::open(const std::string& path) {
  using Failure = SymbolFile::Failure;
  auto file = core::LazyFile::open(path, largest_symbol_file);
  if (!file) return core::fail(Failure{file.error(), std::nullopt});
  core::Findings findings;
  auto pdb = Pdb::open(**file, findings);
  if (!pdb) return core::fail(Failure{pdb.error(), core::recognize_file(**file)});
  constexpr u32 type_stream = 2;
  TypeTable table;
  if (pdb->msf().stream_size(type_stream).value_or(0) != 0) {
    auto read = TypeTable::read(*pdb, findings);
    if (!read) return core::fail(Failure{read.error(), core::FileKind::pdb});
    table = std::move(*read);
  }
  if (table.count() == 0) findings.info("pdb-no-types", std::nullopt, "the PDB has no types");
  core::note_unreadable(**file, findings);
  auto identity = PdbIdentity::of(*pdb);
  return TypeFile{path,
                  std::move(*file),
                  std::move(*pdb),
                  std::move(identity),
                  std::move(table),
                  std::move(findings),
                  {}};
}

core::Result<TypeTable> read_types(const SymbolFile& file, core::Findings& findings) {
  if (file.pdb) {
    const core::UnreadableNote note{*file.file, findings};
    return TypeTable::read(*file.pdb, findings);
  }
  return TypeTable::of(file.types.records, file.types.pointer_size, findings);
}

}  // namespace coldtrace::pe
