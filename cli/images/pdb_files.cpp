#include "cli/images/pdb_files.hpp"

#include <filesystem>
#include <system_error>

#include "cli/images/symbol_file.hpp"

namespace coldtrace::cli {

namespace fs = std::filesystem;

void add_pdb_paths_option(Command& command, std::vector<std::string>& paths) {
  command
      .add_input(
          "--pdb", paths,
          "Program database or symbol table of Volatility 3 (ISF), plain or compressed (.xz, .gz, "
          ".bz2, .zst), or a folder with such files in it or below (flat, a symbol server's store, "
          "or Volatility 3's); applied to the image with matching GUID and age")
      .repeatable()
      .type_name("FILE|DIR");
}

PdbFiles::PdbFiles(const std::vector<std::string>& paths, const FileFolders& others,
                   core::Findings& findings, Report& report)
    : findings_{findings}, others_{others} {
  for (const auto& path : paths) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      folders_.add(path, findings);
      folder_paths_.push_back(path);
    } else {
      add_file(path, report);
    }
  }
}

void PdbFiles::add_file(const std::string& path, Report& report) {
  std::string why;
  const auto reference = identify_symbol_file(path, why);
  if (!reference) return report.failed(path, why);
  choice_.give(path, *reference, findings_);
}

const std::optional<pe::PdbReference>& PdbFiles::identify(const std::string& path) {
  const auto [place, added] = identities_.try_emplace(path);
  if (!added) return place->second;
  std::string why;
  place->second = identify_symbol_file(path, why);
  if (!place->second) findings_.warning("symbols-unreadable", std::nullopt, "{}: {}", path, why);
  return place->second;
}

std::vector<std::string> PdbFiles::candidates(const pe::PdbReference& reference) const {
  std::vector<std::string> paths;
  for (const auto& name : pe::pdb_file_names(reference))
    for (const auto* const folders : {&folders_, &others_}) {
      const auto& found = folders->find(name);
      paths.insert(paths.end(), found.begin(), found.end());
    }
  pe::sort_pdb_candidates(paths, reference);
  return paths;
}

std::optional<std::string> PdbFiles::find(const pe::PdbReference& reference) {
  return choice_.find(
      reference,
      candidates(reference), [&](const std::string& path) -> const auto& { return identify(path); },
      findings_);
}

}  // namespace coldtrace::cli
