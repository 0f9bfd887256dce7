#pragma once

#include "coldtrace/core/findings.hpp"
#include "ntfs/shadow/shadow_blocks.hpp"

namespace coldtrace::ntfs {

// The header of a volume's shadow copies, or nothing if it has none.
std::optional<ShadowHeader> read_shadow_header(const core::ImageSource& image, ShadowPlace place,
                                               core::Findings& findings);

// The shadow copies in the catalog, oldest first, with what their stores say of themselves.
std::vector<ShadowCopy> read_shadow_catalog(ShadowBlocks& blocks, const ShadowHeader& header,
                                            core::Findings& findings);

}  // namespace coldtrace::ntfs
