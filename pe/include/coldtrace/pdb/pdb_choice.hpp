#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/debug_directory.hpp"

namespace coldtrace::pe {

// Suffixes of compressed PDBs.
inline constexpr std::array<std::string_view, 4> packed_pdb_endings{".zst", ".gz", ".xz", ".bz2"};

// Possible names of a file with the symbols that an image refers to: the PDB, compressed or not,
// and its symbol table, as in stores of Volatility 3 (windows/NAME.pdb/GUID-AGE.json.xz).
[[nodiscard]] std::vector<std::string> pdb_file_names(const PdbReference& wanted);

// Sorts files with such a name into the order in which to try them: first those where a symbol
// server has it (symbol_server_key). A symbol store has dozens of builds; files beyond 1024 are
// dropped.
void sort_pdb_candidates(std::vector<std::string>& paths, const PdbReference& wanted);

// Determines which of several files is the PDB that an image refers to: the one with its GUID and
// age. Names say where to look, never what a file is.
class PdbChoice {
 public:
  // GUID and age of a file; nothing if it is not a PDB, which the caller reports.
  using Identify = std::function<const std::optional<PdbReference>&(const std::string& path)>;

  // A file that may be chosen for any image. One with the GUID and age of another is the finding
  // `image-twice`, and is not kept.
  void give(const std::string& path, const PdbReference& pdb, core::Findings& findings);

  // The path of the given file, otherwise of the first candidate. If there are candidates and all
  // are other builds, that is the finding `symbols-other-build`, for the first one.
  [[nodiscard]] std::optional<std::string> find(const PdbReference& wanted,
                                                std::span<const std::string> candidates,
                                                const Identify& identify, core::Findings& findings);

  // Another image refers to it: a file that belongs to that image is not reported as another build.
  void expect(const PdbReference& wanted);

  // Something refers to it: a given file with its GUID and age is used.
  void note_asked_for(const PdbReference& wanted);
  // Whether all given files were chosen or used.
  [[nodiscard]] bool all_asked_for() const;
  // The others, each as the finding `symbols-unmatched`.
  void report_unmatched(core::Findings& findings) const;

 private:
  struct Given {
    std::string path;
    PdbReference pdb;
    bool matched = false;
  };

  std::vector<Given> given_;
  std::multimap<std::string, PdbReference> expected_;  // by file name in lower case
};

}  // namespace coldtrace::pe
