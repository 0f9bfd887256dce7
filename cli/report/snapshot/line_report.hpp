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

// Adds a section for each volume of the NDJSON that 'ntfs snapshot' writes, or of several such
// texts in sequence: the same as for the image, except for what the lines do not contain.
// `findings` are those of opening it. False if there is none, which `report` says.
bool add_line_report(Page& page, const SnapshotFile& file, const SnapshotReportOptions& options,
                     core::Findings findings, Report& report);

}  // namespace coldtrace::cli
