#include "cli/images/symbol_places.hpp"

#include <algorithm>

#include "cli/command/common_options.hpp"
#include "coldtrace/core/no_match.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pdb/pdb_names.hpp"
#include "coldtrace/syscall-map/kernel_symbols.hpp"

namespace coldtrace::cli {

void add_pdb_option(Command& command, std::vector<std::string>& pdbs) {
  command
      .add_input(
          "--pdb", pdbs,
          "Program database that names functions, or symbol table of Volatility 3 (ISF: .json, "
          ".json.xz); used for the image with its GUID and age. Can be repeated")
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

const pe::SymbolFile* SymbolPlaces::find_file(const pe::Identity& identity) {
  const auto file = std::find_if(
      files_.begin(), files_.end(),
      [&](const pe::SymbolFile& candidate) { return candidate.belongs_to(identity.pdb); });
  if (file == files_.end()) {
    last_reference_ = identity.pdb;
    return nullptr;
  }
  file->matches_image = true;
  return &*file;
}

std::vector<syscall_map::NamedPlace> SymbolPlaces::all(const pe::Identity& identity) {
  const auto* file = find_file(identity);
  return file ? syscall_map::to_places(*file) : std::vector<syscall_map::NamedPlace>{};
}

std::optional<syscall_map::NamedPlace> SymbolPlaces::find(const pe::Identity& identity,
                                                          std::string_view name,
                                                          core::Findings& findings) {
  const auto* file = find_file(identity);
  if (!file) return std::nullopt;
  const auto symbols = pe::find_public_symbols(file->publics.symbols, name);
  if (symbols.empty()) {
    std::vector<std::string_view> names;
    for (const auto& known : file->publics.symbols) names.push_back(known.name);
    core::NoMatch missing;
    missing.add(file->path, name, names);
    missing.report(findings);
    return std::nullopt;
  }
  if (symbols.size() > 1) {
    findings.warning("symbol-ambiguous", std::nullopt, "{} has {} public symbols {}: {} and {}",
                     file->path, symbols.size(), name, core::to_valid_utf8(symbols[0]->name),
                     core::to_valid_utf8(symbols[1]->name));
    return std::nullopt;
  }
  return syscall_map::NamedPlace{core::to_valid_utf8(symbols[0]->name), *symbols[0]->address};
}

void SymbolPlaces::finish(Report& report) {
  for (auto& file : files_) {
    if (!*file.matches_image) file.compare(last_reference_);
    report.read(file.path, file.findings);
  }
}

void SymbolPlaces::write(JsonWriter& json) const {
  json.begin_array();
  for (const auto& file : files_) {
    json.begin_object()
        .field("path", file.path)
        .field("guid", to_string(file.identity.guid))
        .field("age", file.identity.age)
        .field("matches_image", file.matches_image)
        .key("findings");
    write_findings(json, file.findings);
    json.end_object();
  }
  json.end_array();
}

}  // namespace coldtrace::cli
