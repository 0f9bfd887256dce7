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

// Which of some files name the functions of the images of a trace: the image, and the PDB that it
// asks for, or that the trace says where no file is the image.
class SymbolChoice {
 public:
  // An image of a trace, and the file that it was loaded from.
  struct Traced {
    std::string_view name;  // with or without its path
    LoadedFile file;
  };
  // What is looked at besides the files that are given one by one.
  struct Files {
    std::function<std::span<const std::string>(std::string_view name)> images;  // of that name
    ImageChoice::Identify identify_image;
    // With a name that the PDB may have, as sort_pdb_candidates() has them.
    std::function<std::vector<std::string>(const PdbReference& wanted)> pdbs;
    PdbChoice::Identify identify_pdb;
  };
  struct Paths {
    std::string image;  // empty: none, as the other
    std::string pdb;
  };

  // Files are given to `images` and `pdbs`, which outlive the object.
  SymbolChoice(ImageChoice& images, PdbChoice& pdbs, Files files)
      : images_{images}, pdbs_{pdbs}, files_{std::move(files)} {}

  // Nothing where no file is the image or its PDB. What has the name and is another build is a
  // finding of ImageChoice and PdbChoice.
  [[nodiscard]] std::optional<Paths> find(const Traced& image, core::Findings& findings);

  // `symbols-unmatched`: the given files that are none of these images and none of their PDBs, nor
  // of the PDBs `others`; and where there are no others, that none of `folders`, which `files`
  // looks into, has a file with the name of an image or its PDB.
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
