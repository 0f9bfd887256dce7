#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/pe/loaded_file.hpp"

namespace coldtrace::pe {

// Which of some files is the one that an image of a trace was loaded from, by TimeDateStamp, size,
// CheckSum and the PDB's GUID and age (pe::compare). Names say where to look, never what a file is.
class ImageChoice {
 public:
  // Nothing where the file is not an image, which the caller tells of.
  using Identify = std::function<const std::optional<Identity>&(const std::string& path)>;

  struct Chosen {
    std::string path;
    std::optional<PdbReference> pdb;  // that the file asks for, or else that the trace says
  };

  // A file that may be chosen for whatever image. One that is the build of another is the finding
  // `image-twice`, and is not kept.
  void give(const std::string& path, const Identity& identity, core::Findings& findings);

  // The file that is given, or else the first of the candidates, which have the name of the image;
  // those beyond 1024 are not looked at: copies of a whole Windows have dozens. That a file of the
  // name is another build is the finding `symbols-other-build`, that nothing proves it to be this
  // one `symbols-unproved`.
  [[nodiscard]] std::optional<Chosen> find(std::string_view name, const LoadedFile& loaded,
                                           std::span<const std::string> candidates,
                                           const Identify& identify, core::Findings& findings);

  // Whether all files that are given were chosen.
  [[nodiscard]] bool all_matched() const;
  // The others, each the finding `symbols-unmatched`.
  void report_unmatched(core::Findings& findings) const;

  // That the files that are given ask for.
  [[nodiscard]] std::vector<PdbReference> pdbs() const;

 private:
  struct Given {
    std::string path;
    Identity identity;
    bool matched = false;
  };

  std::vector<Given> given_;
};

}  // namespace coldtrace::pe
