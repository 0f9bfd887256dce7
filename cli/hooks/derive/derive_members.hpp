#pragma once

#include <string>
#include <vector>

#include "cli/hooks/table/known_builds.hpp"

namespace coldtrace::cli {

// `hooks derive` of a member: where it lies in each file, derived from builds in which it is known.
struct MemberDerivation {
  std::string wanted;  // "_EPROCESS.Token", or a glob with a dot
  std::vector<std::string> pdbs;
  KnownBuildOptions known;
};

// Writes text, JSON or CSV, as the options say. Throws Failure if nothing can be derived.
Exit derive_members(const MemberDerivation& derivation, const PeOptions& options);

}  // namespace coldtrace::cli
