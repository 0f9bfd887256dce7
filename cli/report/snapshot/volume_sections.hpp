#pragma once

#include "cli/report/page/page.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/volume_summary.hpp"

namespace coldtrace::cli {

// One volume, as its section shows it.
struct VolumeAnswers {
  const ntfs::VolumeSummary& summary;
  const core::Findings& findings;
  u32 cluster_size;
  std::string id;  // in front of the names of elements
  u64 top;         // rows of each table
};

void write_states(Html& html, const VolumeAnswers& answers);
void write_sizes(Html& html, const VolumeAnswers& answers);
void write_activity(Html& html, const VolumeAnswers& answers);
void write_map(Html& html, const VolumeAnswers& answers);
void write_files(Html& html, const VolumeAnswers& answers);
void write_volume_findings(Html& html, const VolumeAnswers& answers);

// What the script draws of it: the treemap of its directories.
std::string volume_data(const VolumeAnswers& answers);

}  // namespace coldtrace::cli
