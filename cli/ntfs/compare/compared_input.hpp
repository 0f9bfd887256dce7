#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/report.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "cli/ntfs/rows/volume_name.hpp"
#include "coldtrace/ntfs/comparison/compared_files.hpp"
#include "coldtrace/ntfs/comparison/volume_pairs.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// A volume on one side of a comparison.
struct ComparedVolume {
  VolumeName name;
  std::string serial_number;  // empty: not known
  ntfs::ComparedFiles files;
  std::string names_key;  // key of hashed names; empty: they are not hashed

  ntfs::ComparedView view() const { return {name.start, name.shadow, serial_number, names_key}; }
};

// Reads an image or the NDJSON of a snapshot, also from a pipe; nothing, and a report, if it is
// neither. Findings are those of the input.
// With `names` they are hashed, unless the snapshot's are already.
std::optional<std::vector<ComparedVolume>> read_compared(const DiskOptions& options,
                                                         const privacy::HashedNames* names,
                                                         unsigned jobs, core::Findings& findings,
                                                         Report& report);

}  // namespace coldtrace::cli
