#include "cli/images/symbol_store.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_file.hpp"

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
      pdbs_{options.pdbs, folders_, findings, report},
      choice_{images_, pdbs_.choice(), files_by_name()} {
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

pe::SymbolChoice::Files SymbolStore::files_by_name() {
  pe::SymbolChoice::Files files;
  files.images = [this](std::string_view name) { return std::span{folders_.find(name)}; };
  files.identify_image = [this](const std::string& path) -> const std::optional<pe::Identity>& {
    return identify_image(path);
  };
  files.pdbs = [this](const pe::PdbReference& wanted) { return pdbs_.candidates(wanted); };
  files.identify_pdb = [this](const std::string& path) -> const std::optional<pe::PdbReference>& {
    return pdbs_.identify(path);
  };
  return files;
}

std::shared_ptr<ImageSymbols> SymbolStore::find(const Loaded& image) {
  const auto found = choice_.find(image, findings_);
  return found ? read(found->image, found->pdb) : nullptr;
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
  std::optional<pe::ImageTables> tables;
  if (input) tables.emplace(input->image);
  pe::CodeSymbols symbols{tables ? &*tables : nullptr, symbol_file, findings};
  if (input) {
    findings.merge(input->findings());
  }
  if (file) findings.merge(file->findings);
  known = std::make_shared<ImageSymbols>(
      ImageSymbols{image, pdb, std::move(symbols), std::move(findings)});
  return known;
}

void SymbolStore::note_unmatched(const std::vector<Loaded>& images,
                                 const std::vector<pe::PdbReference>& others) {
  auto folders = folder_paths_;
  std::ranges::copy(pdbs_.folders(), std::back_inserter(folders));
  choice_.note_unmatched(images, others, folders, findings_);
}

void SymbolStore::finish(Report& report) const {
  for (const auto& [paths, symbols] : read_)
    report.read(symbols->image.empty() ? symbols->pdb : symbols->image, symbols->findings);
}

}  // namespace coldtrace::cli
