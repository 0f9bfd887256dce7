#include "coldtrace/pdb/symbol_choice.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coldtrace/core/file_name.hpp"

namespace coldtrace::pe {

std::optional<ImageChoice::Chosen> SymbolChoice::find_image(const Traced& image,
                                                            core::Findings& findings) {
  return images_.find(image.name, image.file, files_.images(core::file_name(image.name)),
                      files_.identify_image, findings);
}

std::optional<SymbolChoice::Paths> SymbolChoice::find(const Traced& image,
                                                      core::Findings& findings) {
  const auto chosen = find_image(image, findings);
  const auto& reference = chosen ? chosen->pdb : image.file.pdb;
  std::optional<std::string> pdb;
  if (reference)
    pdb = pdbs_.find(*reference, files_.pdbs(*reference), files_.identify_pdb, findings);
  if (!chosen && !pdb) return std::nullopt;
  return Paths{chosen ? chosen->path : "", pdb.value_or("")};
}

bool SymbolChoice::has_name_of(const Traced& image) const {
  return !files_.images(core::file_name(image.name)).empty() ||
         (image.file.pdb && has_name_of(*image.file.pdb));
}

void SymbolChoice::note_unmatched(std::span<const Traced> images,
                                  std::span<const PdbReference> others,
                                  std::span<const std::string> folders, core::Findings& findings) {
  const auto has_name = [this](const auto& wanted) { return has_name_of(wanted); };
  for (const auto& reference : others) pdbs_.note_asked_for(reference);
  // What an image that is given asks for, the trace may not tell.
  if (!folders.empty() && others.empty() && std::ranges::none_of(images_.pdbs(), has_name) &&
      std::ranges::none_of(images, has_name))
    findings.warning("symbols-unmatched", std::nullopt,
                     "no file in {} has the name of an image of the trace, or of its PDB",
                     fmt::join(folders, ", "));
  for (const auto& image : images) {
    if (images_.all_matched() && pdbs_.all_asked_for()) return;
    core::Findings told_later;  // by find()
    const auto chosen = find_image(image, told_later);
    const auto& reference = chosen ? chosen->pdb : image.file.pdb;
    if (reference) pdbs_.note_asked_for(*reference);
  }
  images_.report_unmatched(findings);
  pdbs_.report_unmatched(findings);
}

}  // namespace coldtrace::pe
