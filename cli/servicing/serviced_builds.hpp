#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/images/pdb_files.hpp"
#include "cli/servicing/serviced_modules.hpp"
#include "coldtrace/syscall-map/hook_table.hpp"
#include "coldtrace/syscall-map/servicing/row_comparison.hpp"

namespace coldtrace::cli {

// Rows and how many there are of each state.
struct RowChanges {
  std::vector<syscall_map::RowChange> rows;
  std::array<u64, syscall_map::row_states> counts{};

  u64 count(syscall_map::RowState state) const { return counts[static_cast<std::size_t>(state)]; }
};

// A build of Windows of both systems: what its kernel and the images beside it show.
struct ServicedBuild {
  std::vector<syscall_map::HookTableImage> before, after;
  std::string pdb_before, pdb_after;  // of the kernels; empty: none
  RowChanges changes;
};

// A build of a user's table whose kernel the old system has, and one pair with that kernel.
struct ServicedTable {
  std::string path;
  HashedIdentity kernel;                // of the old system
  std::optional<HashedIdentity> after;  // of the new one; nothing: it has none for it
  bool covered = false;                 // the table has the new kernel's build as well
  RowChanges changes;                   // no row is added
  std::string path_before;              // of the kernels
  std::optional<std::string> path_after;
};

struct ServicedBuilds {
  std::vector<ServicedBuild> builds;
  std::vector<ServicedTable> tables;
  std::vector<std::pair<std::string, std::size_t>> missing;  // builds of a table that OLD lacks
  core::Findings findings;                                   // what became of the rows of tables
};

// Compares the hook tables of each pair of kernels, and the tables that the options give with the
// new builds. What cannot be found of a build is no finding, but where a table has it. Nothing
// where a table cannot be read, which the report says.
std::optional<ServicedBuilds> compare_serviced_builds(
    const ServicedSide& before, const ServicedSide& after,
    const std::vector<syscall_map::ModulePair>& pairs, PdbFiles& pdbs,
    const ServicingOptions& options, Report& report);

}  // namespace coldtrace::cli
