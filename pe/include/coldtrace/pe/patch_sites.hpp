#pragma once

#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/pe/import_directory.hpp"
#include "coldtrace/pe/patch_site.hpp"

namespace coldtrace::pe {

// All patch sites in an image's headers and tables, ascending and disjoint: if two overlap, the
// first is kept. `imports` are all of the image's, `more` are sites from other sources. A table of
// dynamic relocations that cannot be read, or that has unsupported contents, is the finding
// `dynamic-relocations`.
[[nodiscard]] std::vector<PatchSite> find_patch_sites(const ImageTables& file,
                                                      const std::vector<ImportedModule>& imports,
                                                      std::vector<PatchSite> more,
                                                      core::Findings& findings);

}  // namespace coldtrace::pe
