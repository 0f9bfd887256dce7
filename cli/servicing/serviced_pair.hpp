#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/pe/types/compared_types.hpp"
#include "cli/servicing/serviced_modules.hpp"
#include "coldtrace/pdb/type_file.hpp"
#include "coldtrace/schema_files/provider_comparison.hpp"
#include "coldtrace/syscall-map/servicing/module_comparison.hpp"

namespace coldtrace::cli {

// The PDBs of a module in both systems, and their differences, which are views of the files.
struct ServicedTypes {
  pe::TypeFile before, after;
  pe::TypeFileComparison compared;
};

// What is compared: a pair of modules, and the PDBs of both if known.
struct ServicedPair {
  syscall_map::ModulePair modules;
  std::string pdb_before, pdb_after;  // empty: none
};

// What an update changed in one module, or that it added or removed the module.
struct ComparedPair {
  bool same = false;  // byte for byte
  std::optional<syscall_map::ModuleComparison> tables;
  std::optional<schema_files::ProviderComparison> providers;
  std::unique_ptr<ServicedTypes> types;
  core::Findings before, after;  // of the files
  std::string failed;            // a file that can no longer be read, and why
};

ComparedPair compare_serviced_pair(const ServicedPair& pair, const ServicedSide& before,
                                   const ServicedSide& after, const ServicingOptions& options);

}  // namespace coldtrace::cli
