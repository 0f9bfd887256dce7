#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/images/pdb_files.hpp"
#include "cli/servicing/serviced_modules.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table.hpp"
#include "coldtrace/syscall-map/servicing/table_servicing.hpp"

namespace coldtrace::cli {

// A build of Windows in both systems: what its kernel and the images beside it show.
struct ServicedBuild {
  std::vector<syscall_map::HookTableImage> before, after;
  std::string pdb_before, pdb_after;  // of the kernels; empty: none
  // Members that the list requires and the kernel lacks.
  std::vector<std::string> missing_before, missing_after;
  syscall_map::RowChanges changes;
};

// A table given by the user.
struct GivenTable {
  std::string path;
  std::vector<syscall_map::HookTable> builds;
};

// A build of a user's table whose kernel is in the old system, and one pair with that kernel.
struct ServicedTable {
  std::string path;
  HashedIdentity kernel;                // of the old system
  std::optional<HashedIdentity> after;  // of the new one; nothing: it has no counterpart
  bool covered = false;                 // the table also has the build of the new kernel
  syscall_map::RowChanges changes;      // no row is added
  std::string path_before;              // of the kernels
  std::optional<std::string> path_after;
};

struct ServicedBuilds {
  std::vector<ServicedBuild> builds;
  std::vector<ServicedTable> tables;
  std::vector<std::pair<std::string, std::size_t>> missing;  // builds in tables that BEFORE lacks
  core::Findings findings;                                   // about changed rows of tables
};

// Nothing if one of them cannot be read, which the report says.
std::optional<std::vector<GivenTable>> read_given_tables(const ServicingOptions& options,
                                                         Report& report);

// Compares the hook tables of each pair of kernels, and the given tables with the new builds. What
// cannot be found in a build is a finding only if a table has it, or a list requires it as a
// member.
ServicedBuilds compare_serviced_builds(const ServicedSide& before, const ServicedSide& after,
                                       const std::vector<syscall_map::ModulePair>& pairs,
                                       const std::vector<GivenTable>& tables, PdbFiles& pdbs,
                                       const ServicingOptions& options, Report& report);

}  // namespace coldtrace::cli
