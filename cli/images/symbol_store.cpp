#include "cli/images/symbol_store.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/images/pe_input.hpp"
#include "cli/images/symbol_file.hpp"
#include "cli/output/text.hpp"
#include "coldtrace/core/file_name.hpp"
#include "coldtrace/pe/dll_name.hpp"

namespace coldtrace::cli {
namespace {

using pe::Likeness;

// Files of one name that are looked at for one image: copies of a whole Windows have dozens.
constexpr std::size_t most_candidates = 1024;

bool same_name(std::string_view one, std::string_view other) {
  return pe::to_lower(core::file_name(one)) == pe::to_lower(core::file_name(other));
}

std::string text_of(const pe::PdbReference& pdb) {
  return pdb.guid ? fmt::format("GUID {} and age {}", core::to_string(*pdb.guid), pdb.age)
                  : "no GUID";
}

// Of an identity or what is loaded.
std::string text_of(const auto& file) {
  return fmt::format("stamp {:#010x}, size {:#x}, checksum {:#x}{}", file.time_date_stamp,
                     file.size_of_image, file.checksum,
                     file.pdb ? ", a PDB with " + text_of(*file.pdb) : std::string{});
}

FileFolders list_folders(const std::vector<std::string>& folders, core::Findings& findings) {
  FileFolders files;
  for (const auto& folder : folders) files.add(folder, findings);
  return files;
}

std::span<const std::string> first_of(const std::vector<std::string>& paths) {
  return std::span{paths}.first(std::min(paths.size(), most_candidates));
}

}  // namespace

void add_symbol_options(Command& command, SymbolOptions& options) {
  command
      .add_input("--image", options.images,
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
    auto identity = pe::read_identity(input->image, told_later);
    const auto known = std::find_if(images_.begin(), images_.end(), [&](const GivenImage& other) {
      return pe::compare(other.identity, {identity.time_date_stamp, identity.checksum,
                                          identity.size_of_image, identity.pdb}) == Likeness::same;
    });
    if (known != images_.end())
      findings_.info("image-twice", std::nullopt, "{} is the build that {} is", path, known->path);
    else
      images_.push_back({path, std::move(identity)});
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

std::optional<std::string> SymbolStore::find_image(std::string_view name,
                                                   const pe::LoadedFile& loaded,
                                                   std::optional<pe::PdbReference>& pdb,
                                                   core::Findings& findings) {
  std::optional<std::pair<std::string, Likeness>> other;
  std::string other_text;
  const auto is_it = [&](const std::string& path, const pe::Identity& identity, auto has_name) {
    const auto likeness = pe::compare(identity, loaded);
    if (likeness == Likeness::same) {
      if (identity.pdb) pdb = identity.pdb;
      return true;
    }
    if (!other && has_name()) {
      other.emplace(path, likeness);
      other_text = text_of(identity);
    }
    return false;
  };
  for (auto& given : images_)
    if (is_it(given.path, given.identity, [&] { return same_name(given.path, name); })) {
      given.matched = true;
      return given.path;
    }
  for (const auto& path : first_of(folders_.find(core::file_name(name))))
    if (const auto& identity = identify_image(path);
        identity && is_it(path, *identity, [] { return true; }))
      return path;
  if (other && other->second == Likeness::other)
    findings.warning("symbols-other-build", std::nullopt,
                     "{} is not the {} of the trace, and not used: it has {}, the trace's {}",
                     other->first, printable(core::file_name(name)), other_text, text_of(loaded));
  else if (other)
    findings.warning("symbols-unproved", std::nullopt,
                     "{} is not used: the trace does not say which build of {} it has",
                     other->first, printable(core::file_name(name)));
  return std::nullopt;
}

std::shared_ptr<ImageSymbols> SymbolStore::find(const Loaded& image) {
  auto reference = image.file.pdb;
  const auto path = find_image(image.name, image.file, reference, findings_);
  std::optional<std::string> pdb;
  if (reference) pdb = pdbs_.find(*reference);
  if (!path && !pdb) return nullptr;
  return read(path.value_or(""), pdb.value_or(""));
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
  return !pdbs_.all_asked_for() || std::any_of(images_.begin(), images_.end(),
                                               [](const auto& given) { return !given.matched; });
}

void SymbolStore::note_unmatched(const std::vector<Loaded>& images,
                                 const std::vector<pe::PdbReference>& others) {
  for (const auto& reference : others) pdbs_.note_asked_for(reference);
  const bool has_folders = !folder_paths_.empty() || !pdbs_.folders().empty();
  if (has_folders && others.empty() && !has_names_of(images)) note_folders();
  for (const auto& image : images) {
    if (!has_unmatched()) return;
    auto reference = image.file.pdb;
    core::Findings told_later;
    find_image(image.name, image.file, reference, told_later);
    if (reference) pdbs_.note_asked_for(*reference);
  }
  for (const auto& given : images_)
    if (!given.matched)
      findings_.warning("symbols-unmatched", std::nullopt,
                        "{} is no image of the trace: none is known to have {}", given.path,
                        text_of(given.identity));
  pdbs_.report_unmatched();
}

bool SymbolStore::has_names_of(const std::vector<Loaded>& images) const {
  // What an image that is given asks for, the trace may not tell.
  if (std::ranges::any_of(images_, [&](const GivenImage& given) {
        return given.identity.pdb && pdbs_.has_name_of(*given.identity.pdb);
      }))
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
