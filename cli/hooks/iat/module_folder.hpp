#pragma once

#include <map>
#include <string>

#include "cli/images/identity.hpp"
#include "coldtrace/pe/import_plan.hpp"
#include "coldtrace/pe/module_set.hpp"

namespace coldtrace::cli {

// Adds the files of a folder to a set, sorted by name, and returns their total size. Throws Failure
// if the folder cannot be listed.
u64 add_folder(pe::ModuleSet& set, const std::string& folder);

// What a file that is not a module is instead.
std::string why_no_module(const std::string& path);

// Reads the files of a set. Without a selection of functions, the modules that are named get their
// identity as they are read; only what is shown is hashed.
class ModuleFiles {
 public:
  ModuleFiles(const PeOptions& options, const pe::ImportSelection& shown)
      : options_{options}, shown_{shown} {}

  pe::ModuleFile read(const std::string& path, bool has_schema);

  // Reads the identity of a module that has none yet; findings are added to the module's.
  void identify_module(pe::SetModule& module);

  const HashedIdentity& identity(const pe::SetModule& module) const {
    return identities_.at(module.path);
  }

 private:
  const PeOptions& options_;
  const pe::ImportSelection& shown_;
  std::map<std::string, HashedIdentity> identities_;  // by path
};

}  // namespace coldtrace::cli
