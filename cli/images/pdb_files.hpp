#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/options.hpp"
#include "cli/command/report.hpp"
#include "cli/images/file_folders.hpp"
#include "coldtrace/pdb/pdb_choice.hpp"

namespace coldtrace::cli {

// --pdb FILE|DIR, which may be repeated, for commands about traces.
void add_pdb_paths_option(Command& command, std::vector<std::string>& paths);

// PDBs that are named, and those in folders and below: flat folders, copies of a disk, symbol
// stores, and the symbol tables of Volatility 3 stores. A PDB is found by GUID and age; in a folder
// it is searched for by name, first at the places where a symbol store has it. A named file is read
// when the object is created, one in a folder when it may be the requested one.
class PdbFiles {
 public:
  // Named files that cannot be read are reported to `report`. Throws Failure if a folder cannot be
  // listed. `others` are folders that may have PDBs as well. All but `paths` must outlive the
  // object.
  PdbFiles(const std::vector<std::string>& paths, const FileFolders& others,
           core::Findings& findings, Report& report);
  PdbFiles(const PdbFiles&) = delete;
  PdbFiles& operator=(const PdbFiles&) = delete;

  // The path of the file. It is a finding if files of its name exist but are of other builds.
  std::optional<std::string> find(const pe::PdbReference& reference);

  // Files in the folders, and in `others`, with a name that the PDB may have.
  std::vector<std::string> candidates(const pe::PdbReference& reference) const;
  // GUID and age of such a file. It is a finding if it cannot be read.
  const std::optional<pe::PdbReference>& identify(const std::string& path);
  // The folders that were named.
  const std::vector<std::string>& folders() const { return folder_paths_; }
  pe::PdbChoice& choice() { return choice_; }

  // A named file counts as used if the trace asks for it, whether its symbols are needed or not.
  void note_asked_for(const pe::PdbReference& reference) { choice_.note_asked_for(reference); }
  // Another image asks for this PDB: a file that matches it is not reported as one of another
  // build.
  void expect(const pe::PdbReference& reference) { choice_.expect(reference); }
  // Notes the named files for which nothing has asked.
  void report_unmatched() { choice_.report_unmatched(findings_); }

 private:
  void add_file(const std::string& path, Report& report);

  core::Findings& findings_;
  FileFolders folders_;
  const FileFolders& others_;
  pe::PdbChoice choice_;
  std::vector<std::string> folder_paths_;
  std::map<std::string, std::optional<pe::PdbReference>> identities_;  // by path
};

}  // namespace coldtrace::cli
