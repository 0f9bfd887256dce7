#include "coldtrace/pdb/symbol_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/lazy_file.hpp"
#include "coldtrace/core/unreadable.hpp"

namespace coldtrace::pe {

PdbIdentity PdbIdentity::of(const Pdb& pdb) {
  return {{},
          pdb.info().guid,
          pdb.age(),
          pdb.dbi() ? std::optional{pdb.dbi()->machine} : std::nullopt,
          pdb.info().signature};
}

SymbolFile::Failure SymbolFile::Failure::of_other(const core::FileView& file,
                                                  const core::ParseError& no_format) {
  if (const auto* const unread = file.error()) return {*unread, std::nullopt};
  const auto kind = core::recognize_file(file);
  return kind ? Failure{no_format, *kind} : Failure{kind.error(), std::nullopt};
}

namespace {

// Everything but what the PDB lies in.
core::Expected<SymbolFile, SymbolFile::Failure> read_symbols(const std::string& path,
                                                             const core::FileView& file) {
  core::Findings findings;
  auto pdb = Pdb::open(file, findings);
  if (!pdb) return core::fail(SymbolFile::Failure::of_other(file, pdb.error()));
  auto sections = PdbSections::read(*pdb, findings);
  auto publics = read_public_symbols(*pdb, sections, findings);
  core::note_unreadable(file, findings);
  auto identity = PdbIdentity::of(*pdb);
  return SymbolFile{path,
                    nullptr,
                    std::move(*pdb),
                    std::move(identity),
                    std::move(sections),
                    std::move(publics),
                    std::move(findings),
                    std::nullopt,
                    {},
                    {}};
}

}  // namespace

core::Expected<SymbolFile, SymbolFile::Failure> SymbolFile::open(const std::string& path) {
  auto file = core::LazyFile::open(path, largest_symbol_file);
  if (!file) return core::fail(Failure{file.error(), std::nullopt});
  auto symbols = read_symbols(path, **file);
  if (symbols) symbols->file = std::move(*file);
  return symbols;
}

core::Expected<SymbolFile, SymbolFile::Failure> SymbolFile::open(const std::string& path,
                                                                 std::vector<std::byte> bytes) {
  auto symbols = read_symbols(path, core::FileView{bytes});
  if (symbols) symbols->bytes = std::move(bytes);
  return symbols;
}

core::Expected<PdbReference, SymbolFile::Failure> SymbolFile::identify(const std::string& path) {
  const auto file = core::LazyFile::open(path, largest_symbol_file);
  if (!file) return core::fail(Failure{file.error(), std::nullopt});
  core::Findings findings;  // told when the file is read
  const auto pdb = Pdb::open(**file, findings);
  if (!pdb) return core::fail(Failure::of_other(**file, pdb.error()));
  return PdbIdentity::of(*pdb).reference();
}

void SymbolFile::compare(const std::optional<PdbReference>& reference) {
  matches_image = belongs_to(reference);
  if (*matches_image) return;
  const auto mine = describe_build(identity.reference());
  if (!reference)
    findings.warning("pdb-mismatch", std::nullopt, "the image names no PDB; {} has {}",
                     pdb ? "this one" : "that of this symbol table", mine);
  else
    findings.warning("pdb-mismatch", std::nullopt, "the PDB{} has {}, the image asks for {}",
                     pdb ? "" : " of the symbol table", mine, describe_build(*reference));
}

void SymbolFile::take_sections(std::span<const SectionHeader> headers) {
  if (!pdb || !sections.headers().empty()) return;
  sections = PdbSections{headers};
  locate(publics, sections);
}

}  // namespace coldtrace::pe
