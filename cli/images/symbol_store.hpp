#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/common_options.hpp"
#include "cli/images/file_folders.hpp"
#include "cli/images/pdb_files.hpp"
#include "coldtrace/pdb/code_symbols.hpp"
#include "coldtrace/pdb/symbol_choice.hpp"

namespace coldtrace::cli {

// --pe, --pdb and --dir.
struct SymbolOptions {
  std::vector<std::string> images;
  std::vector<std::string> pdbs;  // files and folders
  std::vector<std::string> folders;

  bool any() const { return !images.empty() || !pdbs.empty() || !folders.empty(); }
};

void add_symbol_options(Command& command, SymbolOptions& options);

// The symbols of one build of an image.
struct ImageSymbols {
  std::string image;  // path of the PE image; empty if there is none
  std::string pdb;    // the same
  pe::CodeSymbols symbols;
  core::Findings findings;
};

// The images and PDBs that the options name. Each is used for the image that it belongs to, by
// TimeDateStamp, size, CheckSum and the PDB's GUID and age, never by name alone. Files are read
// once, when an image asks for them.
class SymbolStore {
 public:
  using Loaded = pe::SymbolChoice::Traced;

  // Given files that cannot be read are reported to `report`. Throws Failure if a folder cannot be
  // listed. All arguments must outlive the object.
  SymbolStore(const SymbolOptions& options, core::Findings& findings, Report& report);
  SymbolStore(const SymbolStore&) = delete;
  SymbolStore& operator=(const SymbolStore&) = delete;

  // The symbols of the image; null if no file belongs to it. If files of its name belong to other
  // builds, that is a finding.
  std::shared_ptr<ImageSymbols> find(const Loaded& image);

  // Reports the given files that belong to none of these images and are not among the PDBs
  // `others`, and that folders have no file with the name of an image or its PDB. Files with the
  // name but of another build are reported by find().
  void note_unmatched(const std::vector<Loaded>& images,
                      const std::vector<pe::PdbReference>& others);

  // Tells `report` the findings about the files that were read.
  void finish(Report& report) const;

 private:
  void add_images(const std::vector<std::string>& paths, Report& report);
  pe::SymbolChoice::Files files_by_name();
  std::shared_ptr<ImageSymbols> read(const std::string& image, const std::string& pdb);
  const std::optional<pe::Identity>& identify_image(const std::string& path);

  core::Findings& findings_;
  std::vector<std::string> folder_paths_;
  FileFolders folders_;
  PdbFiles pdbs_;
  pe::ImageChoice images_;
  pe::SymbolChoice choice_;
  std::map<std::string, std::optional<pe::Identity>> image_identities_;  // by path
  std::map<std::pair<std::string, std::string>, std::shared_ptr<ImageSymbols>> read_;
};

}  // namespace coldtrace::cli
