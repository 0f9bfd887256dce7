#include "coldtrace/syscall-map/trace-points/image_symbols.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_names.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"

namespace coldtrace::syscall_map {

ImageSymbols::ImageSymbols(std::vector<pe::SymbolFile> files) : files_{std::move(files)} {
  for (auto& file : files_) file.matches_image = false;
}

std::vector<const pe::SymbolFile*> ImageSymbols::find_files(const pe::Image& image,
                                                            const pe::Identity& identity) {
  std::vector<const pe::SymbolFile*> found;
  for (auto& file : files_) {
    if (!pe::belongs_to(file, identity.pdb, identity.machine)) continue;
    file.matches_image = true;
    file.take_sections(image.sections());
    found.push_back(&file);
  }
  if (found.empty()) last_image_ = {identity.pdb, identity.machine};
  return found;
}

std::vector<NamedPlace> ImageSymbols::all(const pe::Image& image, const pe::Identity& identity) {
  std::vector<NamedPlace> places;
  std::set<std::pair<std::string, pe::Rva>> known;
  const auto files = find_files(image, identity);
  for (const auto* const file : files)
    for (auto& place : to_places(*file))
      if (files.size() == 1 || known.emplace(place.name, place.rva).second)
        places.push_back(std::move(place));
  return places;
}

std::optional<NamedPlace> ImageSymbols::find(const pe::Image& image, const pe::Identity& identity,
                                             std::string_view name, core::Findings& findings) {
  const auto files = find_files(image, identity);
  if (files.empty()) return std::nullopt;
  std::map<pe::Rva, std::pair<const pe::SymbolFile*, const pe::PublicSymbol*>> symbols;
  for (const auto* const file : files)
    for (const auto* const symbol : pe::find_public_symbols(file->publics.symbols, name))
      symbols.try_emplace(*symbol->address, file, symbol);
  if (symbols.empty()) {
    std::vector<std::string_view> names;
    for (const auto* const file : files)
      for (const auto& known : file->publics.symbols) names.push_back(known.name);
    core::NoMatch missing;
    missing.add(files.front()->path, name, names);
    missing.report(findings);
    return std::nullopt;
  }
  const auto& [file, symbol] = symbols.begin()->second;
  if (symbols.size() > 1) {
    const auto& [other_file, other] = std::next(symbols.begin())->second;
    findings.warning("symbol-ambiguous", std::nullopt,
                     "{} has {} public symbols {}: {} at {:#x} and {} at {:#x}{}", file->path,
                     symbols.size(), name, core::to_valid_utf8(symbol->name),
                     value(*symbol->address), core::to_valid_utf8(other->name),
                     value(*other->address),
                     file == other_file ? "" : fmt::format(" of {}", other_file->path));
    return std::nullopt;
  }
  return NamedPlace{core::to_valid_utf8(symbol->name), *symbol->address};
}

void ImageSymbols::finish() {
  for (auto& file : files_)
    if (!*file.matches_image) pe::compare_with_image(file, last_image_.pdb, last_image_.machine);
}

}  // namespace coldtrace::syscall_map
