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

// A build of a table, and what files say instead.
struct VerifiedBuild {
  HookTableImage kernel;
  std::vector<HookTableDifference> differences;
};

// What files say of the builds of a table.
struct HookTableVerification {
  std::vector<VerifiedBuild> builds;         // those whose kernel is among the files
  u64 not_given = 0;                         // the others
  std::vector<std::string> unmatched_files;  // that no build of the table was made from
  core::Findings findings;                   // about files that are not checked

  // Some build is checked and none differs, and all files are of some build.
  [[nodiscard]] bool is_same() const;
};

// Makes the table of a build anew, from the files that it was made from; nothing where its kernel
// cannot be read.
using HookTableMaker =
    std::function<std::optional<HookTable>(const HookTable& build, const BuildFiles& files)>;

// Holds each build of a table against those of the files that have the headers of its images. Where
// one of these is not given, that is the only difference of the build: without it other values
// would differ, and say nothing.
[[nodiscard]] HookTableVerification verify_hook_table(std::span<const HookTable> builds,
                                                      const BuildFiles& files,
                                                      const ImageContents& contents,
                                                      const HookTableMaker& make);

}  // namespace coldtrace::syscall_map
