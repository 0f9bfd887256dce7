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

// What is put behind the name of a PDB that is packed.
inline constexpr std::array<std::string_view, 4> packed_pdb_endings{".zst", ".gz", ".xz", ".bz2"};

// What a file with the symbols that an image asks for may be called: the PDB, packed or not, and
// the symbol table of it, as stores of Volatility 3 have it (windows/NAME.pdb/GUID-AGE.json.xz).
[[nodiscard]] std::vector<std::string> pdb_file_names(const PdbReference& wanted);

// Of files with such a name those that are to be looked at, in that order: first what lies where a
// symbol server has it (symbol_server_key). A store of symbols has dozens of builds; files beyond
// 1024 are dropped.
void sort_pdb_candidates(std::vector<std::string>& paths, const PdbReference& wanted);

// Which of some files is the PDB that an image asks for: the one with its GUID and age. Names say
// where to look, never what a file is.
class PdbChoice {
 public:
  // GUID and age of a file; nothing where it is not a PDB, which the caller tells of.
  using Identify = std::function<const std::optional<PdbReference>&(const std::string& path)>;

  // A file that may be chosen for whatever image. One with the GUID and age of another is the
  // finding `image-twice`, and is not kept.
  void give(const std::string& path, const PdbReference& pdb, core::Findings& findings);

  // The path of the file that is given, or else of the first candidate. That there are candidates,
  // and all are other builds, is the finding `symbols-other-build`, of the first one.
  [[nodiscard]] std::optional<std::string> find(const PdbReference& wanted,
                                                std::span<const std::string> candidates,
                                                const Identify& identify, core::Findings& findings);

  // Another image asks for it: a file that is its own is not told as one of another build.
  void expect(const PdbReference& wanted);

  // Something asks for it: a file that is given and has its GUID and age is of use.
  void note_asked_for(const PdbReference& wanted);
  // Whether all files that are given were chosen, or are of use.
  [[nodiscard]] bool all_asked_for() const;
  // The others, each the finding `symbols-unmatched`.
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
