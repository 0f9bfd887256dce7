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

// PDBs that are given individually, and those in folders and below: flat ones, copies of a disk,
// stores of symbol servers, and the symbol tables in stores of Volatility 3. A PDB is identified by
// its GUID and age; in a folder it is looked up by name, first where a symbol server would have it.
// A given file is read when the object is constructed, one in a folder when it may be the requested
// one.
class PdbFiles {
 public:
  // Given files that cannot be read are reported to `report`. Throws Failure if a folder cannot be
  // listed. `others` are folders that may also contain PDBs. Everything except `paths` must outlive
  // the object.
  PdbFiles(const std::vector<std::string>& paths, const FileFolders& others,
           core::Findings& findings, Report& report);
  PdbFiles(const PdbFiles&) = delete;
  PdbFiles& operator=(const PdbFiles&) = delete;

  // The path of the file. If all files of that name belong to other builds, that is a finding.
  std::optional<std::string> find(const pe::PdbReference& reference);

  // Files in these and the other folders with a name that the PDB may have.
  std::vector<std::string> candidates(const pe::PdbReference& reference) const;
  // GUID and age of such a file. If it cannot be read, that is a finding.
  const std::optional<pe::PdbReference>& identify(const std::string& path);
  // Of the paths that were given.
  const std::vector<std::string>& folders() const { return folder_paths_; }
  pe::PdbChoice& choice() { return choice_; }

  // A given file is used if the trace asks for it, whether its symbols are needed or not.
  void note_asked_for(const pe::PdbReference& reference) { choice_.note_asked_for(reference); }
  // Another image asks for it: a file that belongs to that image is not reported as one of another
  // build.
  void expect(const pe::PdbReference& reference) { choice_.expect(reference); }
  // Reports the given files that nothing has asked for.
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
