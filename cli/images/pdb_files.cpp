#include "cli/images/pdb_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/images/packed_pdb_name.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/pdb/isf_table.hpp"
#include "coldtrace/pe/dll_name.hpp"

namespace coldtrace::cli {
namespace {

namespace fs = std::filesystem;

// Files of one name that are looked at for one PDB: a store of symbols has dozens of builds.
constexpr std::size_t most_candidates = 1024;

bool asks_for(const pe::PdbReference& reference, const pe::PdbReference& pdb) {
  return reference.guid && reference.guid == pdb.guid && reference.age == pdb.age;
}

std::string text_of(const pe::PdbReference& pdb) {
  return pdb.guid ? fmt::format("GUID {} and age {}", core::to_string(*pdb.guid), pdb.age)
                  : "no GUID";
}

// "1EB9FACB04EA273BB24BA52C8B8D336A1", the folder of the file in a store.
std::string store_folder(const pe::PdbReference& reference) {
  return fs::path{pe::symbol_server_path(reference)}.parent_path().filename().string();
}

// What the file may be called: the PDB, packed or not, and the symbol table of it, as stores of
// Volatility 3 have it (windows/NAME.pdb/GUID-AGE.json.xz).
std::vector<std::string> file_names(const pe::PdbReference& reference) {
  std::vector<std::string> names;
  const std::string pdb{core::file_name(reference.name)};
  names.push_back(pdb);
  for (const auto packing : packed_pdb_endings) names.push_back(fmt::format("{}{}", pdb, packing));
  if (!reference.guid) return names;
  const auto table = fmt::format("{}-{}.json", pe::to_plain_text(*reference.guid), reference.age);
  for (const auto* const packing : {"", ".xz", ".gz", ".bz2"}) names.push_back(table + packing);
  return names;
}

}  // namespace

void add_pdb_paths_option(Command& command, std::vector<std::string>& paths) {
  command
      .add_input(
          "--pdb", paths,
          "Program database or symbol table of Volatility 3 (ISF), or a folder with such files in "
          "it or below (flat, the store of a symbol server, or that of Volatility 3); applied to "
          "the image with matching GUID and age")
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
  auto reference = identify_symbol_file(path, why);
  if (!reference) return report.failed(path, why);
  const auto known = std::find_if(given_.begin(), given_.end(), [&](const Given& other) {
    return other.reference.guid == reference->guid && other.reference.age == reference->age;
  });
  if (known != given_.end())
    findings_.info("image-twice", std::nullopt, "{} has the GUID and age of {}", path, known->path);
  else
    given_.push_back({path, std::move(*reference)});
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
  for (const auto& name : file_names(reference))
    for (const auto* const folders : {&folders_, &others_}) {
      const auto& found = folders->find(name);
      paths.insert(paths.end(), found.begin(), found.end());
    }
  const auto folder = pe::to_lower(store_folder(reference));
  std::stable_partition(paths.begin(), paths.end(), [&](const std::string& path) {
    return pe::to_lower(fs::path{path}.parent_path().filename().string()) == folder;
  });
  paths.resize(std::min(paths.size(), most_candidates));
  return paths;
}

std::optional<std::string> PdbFiles::find(const pe::PdbReference& reference) {
  for (auto& given : given_)
    if (asks_for(reference, given.reference)) {
      given.matched = true;
      return given.path;
    }
  std::string other;
  bool expected = false;
  const auto [first, last] = expected_.equal_range(pe::to_lower(core::file_name(reference.name)));
  for (const auto& path : candidates(reference)) {
    const auto& found = identify(path);
    if (!found) continue;
    if (asks_for(reference, *found)) return path;
    expected |=
        std::any_of(first, last, [&](const auto& image) { return asks_for(image.second, *found); });
    if (other.empty()) other = fmt::format("{} has {}", path, text_of(*found));
  }
  if (!other.empty() && !expected)
    findings_.warning("symbols-other-build", std::nullopt,
                      "{} and is not used: the image asks for {}", other, text_of(reference));
  return std::nullopt;
}

void PdbFiles::note_asked_for(const pe::PdbReference& reference) {
  for (auto& given : given_) given.matched |= asks_for(reference, given.reference);
}

void PdbFiles::expect(const pe::PdbReference& reference) {
  expected_.emplace(pe::to_lower(core::file_name(reference.name)), reference);
}

bool PdbFiles::all_asked_for() const {
  return std::all_of(given_.begin(), given_.end(),
                     [](const Given& given) { return given.matched; });
}

void PdbFiles::report_unmatched() {
  for (const auto& given : given_)
    if (!given.matched)
      findings_.warning("symbols-unmatched", std::nullopt,
                        "{} belongs to no image: none is known to ask for {}", given.path,
                        text_of(given.reference));
}

}  // namespace coldtrace::cli
