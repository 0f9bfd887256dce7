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

// Adds a section for each volume of the NDJSON that 'ntfs snapshot' writes, or several of them one
// behind the other: the same as of the image, less what its lines do not have. `findings` are
// those of opening it. False where there is none, which `report` says.
bool add_line_report(Page& page, const SnapshotFile& file, const SnapshotReportOptions& options,
                     core::Findings findings, Report& report);

}  // namespace coldtrace::cli
