#include "cli/images/symbol_file.hpp"

#include "cli/images/other_kind.hpp"

namespace coldtrace::cli {
namespace {

std::string why_no_pdb(core::FileKind kind, const core::ParseError& error) {
  switch (kind) {
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

void report_no_pdb(const std::string& path, const pe::SymbolFile::Failure& failure,
                   Report& report) {
  const auto& [error, kind] = failure;
  if (kind)
    report.failed(path, why_no_pdb(*kind, error));
  else
    report.failed(path, error);
}

std::optional<pe::SymbolFile> open_symbol_file(const std::string& path, Report& report) {
  auto file = pe::SymbolFile::open(path);
  if (file) return std::move(*file);
  report_no_pdb(path, file.error(), report);
  return std::nullopt;
}

std::vector<pe::SymbolFile> open_symbol_files(const std::vector<std::string>& paths,
                                              Report& report) {
  std::vector<pe::SymbolFile> files;
  for (const auto& path : paths)
    if (auto file = open_symbol_file(path, report)) {
      report.read(path, file->findings);
      files.push_back(std::move(*file));
    }
  return files;
}

}  // namespace coldtrace::cli
