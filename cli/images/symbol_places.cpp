#include "cli/images/symbol_places.hpp"

#include <map>
#include <set>
#include <utility>

#include "cli/command/common_options.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_names.hpp"
#include "coldtrace/pdb/symbol_machine.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"

namespace coldtrace::cli {

void add_pdb_option(Command& command, std::vector<std::string>& pdbs) {
  command
      .add_input(
          "--pdb", pdbs,
          "Program database or symbol table of Volatility 3 (ISF), plain or compressed (.xz, .gz, "
          ".bz2, .zst), applied to the image with matching GUID and age")
      .repeatable();
}

SymbolPlaces::SymbolPlaces(const std::vector<std::string>& paths, Report& report) {
  for (const auto& path : paths) {
    auto file = open_symbol_file(path, report);
    if (!file) continue;
    file->matches_image = false;
    files_.push_back(std::move(*file));
  }
}

std::vector<const pe::SymbolFile*> SymbolPlaces::find_files(const pe::Image& image,
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

std::vector<syscall_map::NamedPlace> SymbolPlaces::all(const pe::Image& image,
                                                       const pe::Identity& identity) {
  std::vector<syscall_map::NamedPlace> places;
  std::set<std::pair<std::string, pe::Rva>> known;
  const auto files = find_files(image, identity);
  for (const auto* const file : files)
    for (auto& place : syscall_map::to_places(*file))
      if (files.size() == 1 || known.emplace(place.name, place.rva).second)
        places.push_back(std::move(place));
  return places;
}

std::optional<syscall_map::NamedPlace> SymbolPlaces::find(const pe::Image& image,
                                                          const pe::Identity& identity,
                                                          std::string_view name,
                                                          core::Findings& findings) {
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
  return syscall_map::NamedPlace{core::to_valid_utf8(symbol->name), *symbol->address};
}

void SymbolPlaces::finish(Report& report) {
  for (auto& file : files_) {
    if (!*file.matches_image) pe::compare_with_image(file, last_image_.pdb, last_image_.machine);
    report.read(file.path, file.findings);
  }
}

void SymbolPlaces::write(JsonWriter& json) const {
  json.begin_array();
  for (const auto& file : files_) {
    json.begin_object()
        .field("path", file.path)
        .field("guid", guid_text(file.identity))
        .field("age", file.identity.age)
        .field("matches_image", file.matches_image)
        .key("findings");
    write_findings(json, file.findings);
    json.end_object();
  }
  json.end_array();
}

}  // namespace coldtrace::cli
