#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/images/identity.hpp"
#include "coldtrace/pe/api_set_schema.hpp"
#include "coldtrace/pe/import_plan.hpp"

namespace coldtrace::cli {

// A module of a set, read; its file is closed again.
struct FolderModule {
  std::string path;
  pe::ModuleTables tables;
  core::Findings findings;
  std::optional<HashedIdentity> identity;  // where it was asked for
};

// A file that should be a module and cannot be read.
struct UnreadableModule {
  std::string path;
  std::string reason;
};

// How to read modules, and which get an identity at once.
struct ModuleReading {
  PeOptions pe;
  pe::ImportSelection identified;  // by module; nothing is hashed that is not shown
};

// A program with the DLLs that it leads to, or all modules of folders.
class ModuleSet {
 public:
  explicit ModuleSet(const ModuleReading& reading) : reading_{reading} {}

  // Files of folders that come later are hidden by those of the same name. Throws Failure when
  // the folder cannot be listed.
  void add_folder(const std::string& path);

  // Reads every module of the folders.
  void read_all();

  // Reads the program and whatever of the folders it leads to. False when it cannot be read; the
  // reason is the last of unreadable().
  bool read_program(const std::string& path);

  // Ascending by name.
  const std::vector<FolderModule>& modules() const { return modules_; }
  std::vector<FolderModule>& modules() { return modules_; }
  const std::vector<UnreadableModule>& unreadable() const { return unreadable_; }
  const pe::ApiSetSchema* schema() const { return schema_ ? &*schema_ : nullptr; }
  const std::string& schema_path() const { return schema_path_; }
  u64 other_files() const { return other_files_; }  // no modules: texts, 16-bit programs, ...
  std::vector<const pe::ModuleTables*> tables() const;

  // What there is to say of the set itself.
  core::Findings findings;

 private:
  void read(const std::string& path);
  void sort();

  const ModuleReading& reading_;
  std::map<std::string, std::string> files_;  // path by name, in lower case
  std::vector<FolderModule> modules_;
  std::vector<UnreadableModule> unreadable_;
  std::optional<pe::ApiSetSchema> schema_;
  std::string schema_path_;
  u64 other_files_ = 0;
  u64 rows_ = 0;  // imports, exports, DLLs and sections of all modules
  u64 text_ = 0;  // bytes of their names
};

// Reads the identity of a module that got none so far; findings are added to its own.
void identify_module(FolderModule& module, const PeOptions& options);

}  // namespace coldtrace::cli
