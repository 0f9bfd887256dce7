#include "coldtrace/syscall-map/signatures/known_place.hpp"

#include <vector>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/pe/image_tables.hpp"

namespace coldtrace::syscall_map {
namespace {

void note_symbol(const NamedPlace& symbol, std::string_view who, pe::Rva rva,
                 core::Findings& findings) {
  if (symbol.rva != rva)
    findings.warning("symbol-disagrees", std::nullopt, "{} says RVA {:#x}, the PDB has {} at {:#x}",
                     who, value(rva), symbol.name, value(symbol.rva));
}

}  // namespace

std::string_view to_string(KnownPlace::From from) {
  switch (from) {
    case KnownPlace::From::option:
      return "option";
    case KnownPlace::From::exported:
      return "export";
    case KnownPlace::From::pdb:
      return "pdb";
    case KnownPlace::From::other_image:
      return "other_image";
  }
  return "";
}

KnownPlace choose_known_place(const PlaceClaims& claims, core::Findings& findings) {
  const auto& [option, exported, symbol] = claims;
  if (option) {
    if (symbol) note_symbol(*symbol, "--at", *option, findings);
    return {option, KnownPlace::From::option};
  }
  if (exported) {
    if (symbol) note_symbol(*symbol, "the export directory", *exported, findings);
    return {exported, KnownPlace::From::exported};
  }
  if (symbol) return {symbol->rva, KnownPlace::From::pdb};
  return {};
}

void note_unknown_function(const pe::Image& image, std::string_view function,
                           core::Findings& findings) {
  if (findings.count("no-match") > 0) return;
  const pe::ImageTables tables{image};
  std::vector<std::string_view> names;
  for (const auto& exported : tables.exports().directory.exports) names.push_back(exported.name);
  core::NoMatch missing;
  missing.add("exported function", function, names);
  missing.report(findings);
}

}  // namespace coldtrace::syscall_map
