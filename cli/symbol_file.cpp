#include "cli/symbol_file.hpp"

#include <string_view>

#include "core/text.hpp"
#include "pe/format.hpp"

namespace coldtrace::cli {
namespace {

// Larger than the symbols of any Windows file; those of browsers come near.
constexpr u64 largest_file = u64{4} << 30;

// "an ELF file (Linux, BSD), not a PDB"; empty for a damaged PDB.
std::string recognize(core::ByteView file) {
  if (core::to_chars(file).starts_with("Microsoft C/C++ MSF 7.00")) return {};
  const auto sentence = pe::recognize_format(file);
  if (sentence.empty()) return "a PE image, not a PDB";
  constexpr std::string_view without = "not a PE image: it does not start with MZ";
  if (sentence == without) return "not a PDB: it does not start with the signature of MSF 7.00";
  constexpr std::string_view old = "a PDB (program database, version 2), not a PE image";
  if (sentence == old) return "a PDB of version 2, which is not read; version 7 is";
  constexpr std::string_view portable = "a portable PDB (.NET), not a PE image";
  if (sentence == portable) return "a portable PDB (.NET), which has no public symbols";
  constexpr std::string_view tail = ", not a PE image";
  if (!sentence.ends_with(tail)) return std::string{sentence};
  return std::string{sentence.substr(0, sentence.size() - tail.size())} + ", not a PDB";
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
    constexpr u64 enough_to_recognize = 64 << 10;
    const auto other = recognize(core::FileView{**file}.clip(0, enough_to_recognize));
    if (other.empty())
      report.failed(path, pdb.error());
    else
      report.failed(path, fmt::format("it is {}", other));
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
