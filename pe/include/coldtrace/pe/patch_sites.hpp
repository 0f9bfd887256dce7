#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/pe/patch_site.hpp"

namespace coldtrace::pe {

// All of an image that its headers and tables tell, ascending and disjoint: where two overlap, the
// first counts. `imports` are all of the image, `more` sites that others know of. A table of
// dynamic relocations that cannot be read, or holds what is not read, is the finding
// `dynamic-relocations`.
[[nodiscard]] std::vector<PatchSite> find_patch_sites(const ImageTables& file,
                                                      const std::vector<ImportedModule>& imports,
                                                      std::vector<PatchSite> more,
                                                      core::Findings& findings);

}  // namespace coldtrace::pe
