#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pdb/image_choice.hpp"
#include "coldtrace/pdb/pdb_choice.hpp"

namespace coldtrace::pe {

// Determines which of several files name the functions of the images of a trace: the image, and the
// PDB to which it refers, or to which the trace refers if no file is the image.
class SymbolChoice {
 public:
  // An image of a trace, and the file from which it was loaded.
  struct Traced {
    std::string_view name;  // with or without its path
    LoadedFile file;
  };
  // Files that are searched in addition to those given one by one.
  struct Files {
    std::function<std::span<const std::string>(std::string_view name)> images;  // of that name
    ImageChoice::Identify identify_image;
    // With a possible name of the PDB, as sort_pdb_candidates() gives them.
    std::function<std::vector<std::string>(const PdbReference& wanted)> pdbs;
    PdbChoice::Identify identify_pdb;
  };
  struct Paths {
    std::string image;  // empty: none; the same applies to the other
    std::string pdb;
  };

  // Files are added to `images` and `pdbs`, which must outlive the object.
  SymbolChoice(ImageChoice& images, PdbChoice& pdbs, Files files)
      : images_{images}, pdbs_{pdbs}, files_{std::move(files)} {}

  // Nothing if no file is the image or its PDB. A file with that name but of another build is a
  // finding of ImageChoice and PdbChoice.
  [[nodiscard]] std::optional<Paths> find(const Traced& image, core::Findings& findings);

  // `symbols-unmatched`: the given files that are neither one of these images nor one of their PDBs
  // or of the PDBs `others`; and if there are no others, that none of `folders`, which `files`
  // searches, has a file with the name of an image or its PDB.
  void note_unmatched(std::span<const Traced> images, std::span<const PdbReference> others,
                      std::span<const std::string> folders, core::Findings& findings);

 private:
  std::optional<ImageChoice::Chosen> find_image(const Traced& image, core::Findings& findings);
  bool has_name_of(const PdbReference& pdb) const { return !files_.pdbs(pdb).empty(); }
  bool has_name_of(const Traced& image) const;

  ImageChoice& images_;
  PdbChoice& pdbs_;
  Files files_;
};

}  // namespace coldtrace::pe
