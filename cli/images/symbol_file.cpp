#include "cli/images/symbol_file.hpp"

#include "cli/images/other_kind.hpp"

namespace coldtrace::cli {
namespace {

// Larger than the symbols of any Windows file; those of browsers come near.
constexpr u64 largest_file = u64{4} << 30;

std::string why_no_pdb(const core::LazyFile& file, const core::ParseError& error) {
  switch (const auto kind = core::recognize_file(file)) {
    case core::FileKind::pdb:
      return to_message(error);
    case core::FileKind::pdb_2:
      return "it is a PDB of version 2, which is not read; version 7 is";
    case core::FileKind::pdb_z:
      return "it is a compressed PDB (MSFZ), which is not read; one of version 7 (MSF 7.00) is";
    case core::FileKind::portable_pdb:
      return "it is a portable PDB (.NET), which has no public symbols";
    case core::FileKind::unknown:
      return "not a PDB: it does not start with the signature of MSF 7.00";
    default:
      return describe_other(kind, "a PDB");
  }
}

}  // namespace

void SymbolFile::compare(const std::optional<pe::PdbReference>& reference) {
  matches_image = reference && pdb.matches(*reference);
  if (*matches_image) return;
  const auto mine = fmt::format("GUID {} and age {}", to_string(pdb.info().guid), pdb.age());
  if (!reference)
    findings.warning("pdb-mismatch", std::nullopt, "the image names no PDB; this one has {}", mine);
  else
    findings.warning("pdb-mismatch", std::nullopt,
                     "the PDB has {}, the image asks for GUID {} and age {}", mine,
                     reference->guid ? to_string(*reference->guid) : "none", reference->age);
}

std::optional<SymbolFile> open_symbol_file(const std::string& path, Report& report) {
  auto file = core::LazyFile::open(path, largest_file);
  if (!file) {
    report.failed(path, file.error());
    return std::nullopt;
  }
  core::Findings findings;
  auto pdb = pe::Pdb::open(**file, findings);
  if (!pdb) {
    report.failed(path, why_no_pdb(**file, pdb.error()));
    return std::nullopt;
  }
  auto sections = pe::PdbSections::read(*pdb, findings);
  auto publics = pe::read_public_symbols(*pdb, sections, findings);
  if ((*file)->error()) findings.warning("unreadable-range", *(*file)->error());
  return SymbolFile{path,
                    std::move(*file),
                    std::move(*pdb),
                    std::move(sections),
                    std::move(publics),
                    std::move(findings),
                    std::nullopt};
}

}  // namespace coldtrace::cli
