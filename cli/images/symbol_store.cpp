#include "cli/images/symbol_store.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_file.hpp"
#include "coldtrace/core/file_name.hpp"

namespace coldtrace::cli {
namespace {

FileFolders list_folders(const std::vector<std::string>& folders, core::Findings& findings) {
  FileFolders files;
  for (const auto& folder : folders) files.add(folder, findings);
  return files;
}

}  // namespace

void add_symbol_options(Command& command, SymbolOptions& options) {
  command
      .add_input("--pe", options.images,
                 "PE image whose exports name functions; applied to the image of the trace with "
                 "matching time stamp, size, checksum and PDB")
      .repeatable();
  add_pdb_paths_option(command, options.pdbs);
  command
      .add_input("--dir", options.folders,
                 "Folder with such images and PDBs, in it or below; looked up by name")
      .repeatable()
      .type_name("DIR");
}

SymbolStore::SymbolStore(const SymbolOptions& options, core::Findings& findings, Report& report)
    : findings_{findings},
      folder_paths_{options.folders},
      folders_{list_folders(options.folders, findings)},
      pdbs_{options.pdbs, folders_, findings, report} {
  add_images(options.images, report);
}

void SymbolStore::add_images(const std::vector<std::string>& paths, Report& report) {
  for (const auto& path : paths) {
    auto input = open_pe(path, PeOptions{}, report);
    if (!input) continue;
    core::Findings told_later;
    images_.give(path, pe::read_identity(input->image, told_later), findings_);
  }
}

const std::optional<pe::Identity>& SymbolStore::identify_image(const std::string& path) {
  const auto [place, added] = image_identities_.try_emplace(path);
  if (!added) return place->second;
  std::string why;
  if (auto input = open_pe(path, PeOptions{}, why)) {
    core::Findings told_later;
    place->second = pe::read_identity(input->image, told_later);
  } else {
    findings_.warning("symbols-unreadable", std::nullopt, "{}: {}", path, why);
  }
  return place->second;
}

std::optional<pe::ImageChoice::Chosen> SymbolStore::find_image(const Loaded& image,
                                                               core::Findings& findings) {
  return images_.find(
      image.name, image.file, folders_.find(core::file_name(image.name)),
      [&](const std::string& path) -> const auto& { return identify_image(path); }, findings);
}

std::shared_ptr<ImageSymbols> SymbolStore::find(const Loaded& image) {
  const auto chosen = find_image(image, findings_);
  const auto& reference = chosen ? chosen->pdb : image.file.pdb;
  std::optional<std::string> pdb;
  if (reference) pdb = pdbs_.find(*reference);
  if (!chosen && !pdb) return nullptr;
  return read(chosen ? chosen->path : "", pdb.value_or(""));
}

std::shared_ptr<ImageSymbols> SymbolStore::read(const std::string& image, const std::string& pdb) {
  auto& known = read_[{image, pdb}];
  if (known) return known;
  core::Findings findings;
  std::optional<PeInput> input;
  if (!image.empty()) {
    std::string why;
    input = open_pe(image, PeOptions{}, why);
    if (!input) findings.warning("symbols-unreadable", std::nullopt, "{}", why);
  }
  std::optional<pe::SymbolFile> file;
  if (!pdb.empty()) {
    std::string why;
    file = open_symbol_file(pdb, why);
    if (!file) findings.warning("symbols-unreadable", std::nullopt, "{}", why);
  }
  const auto* const symbol_file = file ? &*file : nullptr;
  pe::CodeSymbols symbols{input ? &input->image : nullptr, symbol_file, findings};
  if (input) {
    findings.merge(input->findings());
  }
  if (file) findings.merge(file->findings);
  known = std::make_shared<ImageSymbols>(
      ImageSymbols{image, pdb, std::move(symbols), std::move(findings)});
  return known;
}

bool SymbolStore::has_unmatched() const {
  return !pdbs_.all_asked_for() || !images_.all_matched();
}

void SymbolStore::note_unmatched(const std::vector<Loaded>& images,
                                 const std::vector<pe::PdbReference>& others) {
  for (const auto& reference : others) pdbs_.note_asked_for(reference);
  const bool has_folders = !folder_paths_.empty() || !pdbs_.folders().empty();
  if (has_folders && others.empty() && !has_names_of(images)) note_folders();
  for (const auto& image : images) {
    if (!has_unmatched()) return;
    core::Findings told_later;
    const auto chosen = find_image(image, told_later);
    const auto& reference = chosen ? chosen->pdb : image.file.pdb;
    if (reference) pdbs_.note_asked_for(*reference);
  }
  images_.report_unmatched(findings_);
  pdbs_.report_unmatched();
}

bool SymbolStore::has_names_of(const std::vector<Loaded>& images) const {
  // What an image that is given asks for, the trace may not tell.
  if (std::ranges::any_of(images_.pdbs(), [&](const auto& pdb) { return pdbs_.has_name_of(pdb); }))
    return true;
  return std::ranges::any_of(images, [&](const Loaded& image) {
    return !folders_.find(core::file_name(image.name)).empty() ||
           (image.file.pdb && pdbs_.has_name_of(*image.file.pdb));
  });
}

void SymbolStore::note_folders() const {
  auto all = folder_paths_;
  std::ranges::copy(pdbs_.folders(), std::back_inserter(all));
  findings_.warning("symbols-unmatched", std::nullopt,
                    "no file in {} has the name of an image of the trace, or of its PDB",
                    fmt::join(all, ", "));
}

void SymbolStore::finish(Report& report) const {
  for (const auto& [paths, symbols] : read_)
    report.read(symbols->image.empty() ? symbols->pdb : symbols->image, symbols->findings);
}

}  // namespace coldtrace::cli
