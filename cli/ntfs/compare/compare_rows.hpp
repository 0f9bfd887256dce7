#pragma once

#include <string>

#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/output/json.hpp"
#include "coldtrace/ntfs/comparison/file_comparison.hpp"

namespace coldtrace::cli {

// The members of a line, after its type.
void write_difference_json(JsonWriter& json, const VolumeName& volume,
                           const ntfs::FileDifference& difference);
// A line of text. Paths start with what identifies the volume of their side.
std::string difference_text(const VolumeName& before, const VolumeName& after,
                            const ntfs::FileDifference& difference);

}  // namespace coldtrace::cli
