#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"

namespace coldtrace::syscall_map {

// A build of a table, and the different values in the files.
struct VerifiedBuild {
  HookTableImage kernel;
  std::vector<HookTableDifference> differences;
};

// The builds of a table compared with files.
struct HookTableVerification {
  std::vector<VerifiedBuild> builds;         // those whose kernel is among the files
  u64 not_given = 0;                         // the others
  std::vector<std::string> unmatched_files;  // from which no build of the table was made
  core::Findings findings;                   // about files that are not checked

  // At least one build is checked, none differs, and all files belong to a build.
  [[nodiscard]] bool is_same() const;
};

// Makes the table of a build anew, from the files from which it was made; nothing if its kernel
// cannot be read.
using HookTableMaker =
    std::function<std::optional<HookTable>(const HookTable& build, const BuildFiles& files)>;

// Compares each build of a table with the files that have the headers of its images. If one of
// these is missing, that is the only difference reported for the build: without it, other values
// would differ without meaning.
[[nodiscard]] HookTableVerification verify_hook_table(std::span<const HookTable> builds,
                                                      const BuildFiles& files,
                                                      const ImageContents& contents,
                                                      const HookTableMaker& make);

}  // namespace coldtrace::syscall_map
