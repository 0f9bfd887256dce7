#pragma once

#include <string>

#include "cli/command/report.hpp"
#include "cli/report/snapshot/volume_report.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::cli {

struct SnapshotFile {
  const std::string& path;
  const core::ImageSource& bytes;
};

// Adds a section for each volume in the NDJSON of 'ntfs snapshot', also of several concatenated
// ones: the same as for the image, without what the lines lack. `findings` are those of opening it.
// False, and a report, if there is no volume.
bool add_line_report(Page& page, const SnapshotFile& file, const SnapshotReportOptions& options,
                     core::Findings findings, Report& report);

}  // namespace coldtrace::cli
