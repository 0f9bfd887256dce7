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
  std::string image;  // path of the PE image; empty where there is none
  std::string pdb;    // the same
  pe::CodeSymbols symbols;
  core::Findings findings;
};

// The images and PDBs that the options name. Each is taken for the image that it belongs to, by
// TimeDateStamp, size, CheckSum and the PDB's GUID and age, never by its name alone. Files are read
// when an image asks for them, and once.
class SymbolStore {
 public:
  using Loaded = pe::SymbolChoice::Traced;

  // Files that are given and cannot be read are told to `report`. Throws Failure when a folder
  // cannot be listed. All must outlive the object.
  SymbolStore(const SymbolOptions& options, core::Findings& findings, Report& report);
  SymbolStore(const SymbolStore&) = delete;
  SymbolStore& operator=(const SymbolStore&) = delete;

  // The symbols of the image; null where no file is its. That files of its name belong to other
  // builds is a finding.
  std::shared_ptr<ImageSymbols> find(const Loaded& image);

  // Notes the given files that belong to none of these images, and are none of the PDBs `others`,
  // and that folders have no file with the name of an image or its PDB. What has the name and is
  // another build is told by find().
  void note_unmatched(const std::vector<Loaded>& images,
                      const std::vector<pe::PdbReference>& others);

  // Tells `report` what was odd about the files that were read.
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
