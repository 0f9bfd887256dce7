#pragma once

#include "cli/output/json.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/ntfs/shadow/shadow_copies.hpp"

namespace coldtrace::cli {

// The member "shadow_copies" of a volume: null if it never had any.
void write_shadow_list(JsonWriter& json, const ntfs::ShadowCopies* shadows, bool named = true);

// The same as lines of text.
void write_shadow_text(Output& output, const ntfs::ShadowCopies& shadows);

}  // namespace coldtrace::cli
