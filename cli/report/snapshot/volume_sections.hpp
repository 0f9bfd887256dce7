#pragma once

#include "cli/report/page/page.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/summary/cluster_use.hpp"
#include "coldtrace/ntfs/summary/volume_summary.hpp"

namespace coldtrace::cli {

// A finding as a table shows it: of this run, or of the run that took a snapshot.
struct ShownFinding {
  std::string code, severity;
  u64 count = 1;
  std::optional<u64> first_offset;
  std::string text;
};
void append_findings(const core::Findings& findings, std::vector<ShownFinding>& shown);

// What the section of one volume shows.
struct VolumeAnswers {
  const ntfs::VolumeSummary& summary;
  const std::vector<ShownFinding>& findings;
  u32 cluster_size;                   // 0: unknown, as is the space that anything takes
  std::string id;                     // prefix of the names of elements
  u64 top;                            // rows of each table
  std::vector<ntfs::ClusterUse> use;  // of each cell of the map; empty: not known
};

void write_states(Html& html, const VolumeAnswers& answers);
void write_sizes(Html& html, const VolumeAnswers& answers);
void write_activity(Html& html, const VolumeAnswers& answers);
void write_map(Html& html, const VolumeAnswers& answers);
void write_files(Html& html, const VolumeAnswers& answers);
void write_volume_findings(Html& html, const VolumeAnswers& answers);
// The findings of a whole image or snapshot.
void write_findings_table(Html& html, std::string_view id,
                          const std::vector<ShownFinding>& findings);

// What the script draws: the treemap of its directories.
std::string volume_data(const VolumeAnswers& answers);

}  // namespace coldtrace::cli
