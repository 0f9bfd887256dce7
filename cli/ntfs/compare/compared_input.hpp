#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/volume_name.hpp"
#include "coldtrace/ntfs/comparison/compared_files.hpp"

namespace coldtrace::cli {

// A volume of one side of a comparison.
struct ComparedVolume {
  VolumeName name;
  std::string serial_number;  // empty: not known
  ntfs::ComparedFiles files;
};

// Reads an image or the NDJSON of a snapshot, also from a pipe; nothing where neither can be made
// of it, which the report says. Findings are those of the input.
std::optional<std::vector<ComparedVolume>> read_compared(const DiskOptions& options, unsigned jobs,
                                                         core::Findings& findings, Report& report);

}  // namespace coldtrace::cli
