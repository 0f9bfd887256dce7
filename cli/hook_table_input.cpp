#include "cli/hook_table_input.hpp"

#include <algorithm>

namespace coldtrace::cli {

using syscall_map::ImageRole;

std::vector<SymbolFile> open_symbol_files(const std::vector<std::string>& paths, Report& report) {
  std::vector<SymbolFile> files;
  for (const auto& path : paths)
    if (auto file = open_symbol_file(path, report)) {
      report.read(path, file->findings);
      files.push_back(std::move(*file));
    }
  return files;
}

std::optional<syscall_map::HookTable> make_hook_table(const BuildFiles& files,
                                                      const PeOptions& options,
                                                      const std::vector<SymbolFile>& symbols,
                                                      Report& report) {
  std::vector<PeInput> inputs;
  std::vector<syscall_map::HookTableSource> sources;
  core::Findings findings;
  inputs.reserve(files.size());
  for (const auto& file : files) {
    auto input = open_pe(file.path, options, report);
    if (!input && file.role == ImageRole::kernel) return std::nullopt;
    if (!input) continue;
    inputs.push_back(std::move(*input));
    auto identity = identify(inputs.back(), options);
    sources.push_back({{file.role, file.path, std::move(identity.identity), identity.sha256},
                       &inputs.back().image});
  }
  std::vector<syscall_map::NamedPlace> places;
  const auto& reference = sources.front().description.identity.pdb;
  const auto pdb = std::find_if(symbols.begin(), symbols.end(), [&](const SymbolFile& file) {
    return reference && file.pdb.matches(*reference);
  });
  if (pdb != symbols.end()) {
    for (const auto& symbol : pdb->publics.symbols)
      if (symbol.address) places.push_back({std::string{symbol.name}, *symbol.address});
  } else if (!symbols.empty()) {
    findings.warning("pdb-mismatch", std::nullopt,
                     "no PDB that was given has the GUID and age of this kernel");
  }
  auto table = syscall_map::build_hook_table(sources, places);
  for (auto& input : inputs) {
    input.note_unreadable();
    findings.merge(input.findings);
  }
  findings.merge_unknown(table.findings);
  table.findings = std::move(findings);
  return table;
}

}  // namespace coldtrace::cli
