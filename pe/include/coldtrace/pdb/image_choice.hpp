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

// Determines which of several files is the one from which an image of a trace was loaded, by
// TimeDateStamp, size, CheckSum and the PDB's GUID and age (pe::compare). Names say where to look,
// never what a file is.
class ImageChoice {
 public:
  // Nothing if the file is not an image, which the caller reports.
  using Identify = std::function<const std::optional<Identity>&(const std::string& path)>;

  struct Chosen {
    std::string path;
    std::optional<PdbReference> pdb;  // to which the file refers, otherwise the trace
  };

  // A file that may be chosen for any image. One of the same build as another is the finding
  // `image-twice`, and is not kept.
  void give(const std::string& path, const Identity& identity, core::Findings& findings);

  // The given file, otherwise the first of the candidates, which have the name of the image; those
  // beyond 1024 are ignored: copies of a whole Windows have dozens. If the file of that name is
  // another build, that is the finding `symbols-other-build`; if nothing proves that it is this
  // one, `symbols-unproved`.
  [[nodiscard]] std::optional<Chosen> find(std::string_view name, const LoadedFile& loaded,
                                           std::span<const std::string> candidates,
                                           const Identify& identify, core::Findings& findings);

  // Whether all given files were chosen.
  [[nodiscard]] bool all_matched() const;
  // The others, each as the finding `symbols-unmatched`.
  void report_unmatched(core::Findings& findings) const;

  // The PDBs to which the given files refer.
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
