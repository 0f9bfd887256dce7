#pragma once

#include <vector>

#include "coldtrace/pe/load_config.hpp"
#include "coldtrace/pe/patch_site.hpp"

namespace coldtrace::pe {

// Appends what IMAGE_DYNAMIC_RELOCATION_TABLE, version 1, lists. Source: Windows SDK, winnt.h; what
// is written there: Microsoft, "Mitigating Spectre variant 2 with Retpoline on Windows". Not seen
// in any dump so far.
void add_dynamic_relocations(const Image& image, const LoadConfig& config,
                             std::vector<PatchSite>& sites, core::Findings& findings);

}  // namespace coldtrace::pe
