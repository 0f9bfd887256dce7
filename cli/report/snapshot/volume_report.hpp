#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/report/page/page.hpp"
#include "cli/report/snapshot/traced_volumes.hpp"
#include "cli/report/snapshot/volume_sections.hpp"

namespace coldtrace::cli {

struct SnapshotReportOptions {
  u64 top = 250;  // rows of each table
  unsigned jobs = 1;
  std::string id = "volume";        // in front of the names of elements
  u64 largest = 0;                  // maximum size of the page
  TracedVolumes* traced = nullptr;  // gets the volumes, if given
};

// What is known about a volume before its rows.
struct ShownVolume {
  std::string title;
  std::string id;  // prefix of the names of elements
  ntfs::ClusterMap clusters;
  bool of_mft_alone = false;
};

// The shadow copy that shows the volume as it was.
struct ShownShadow {
  u64 number;
  std::string created;  // "2024-01-17T22:20:00.0000000Z"; may be empty
};

// 'Partition 2 "DATA"', 'Partition 2 "DATA", shadow copy 1 of 2024-01-17T22:20:00'; for a partition
// 0 'Volume'.
std::string volume_heading(u64 partition, std::string_view label,
                           const std::optional<ShownShadow>& shadow = {});

// Collects what the section of one volume shows: how much is in which state, sizes, activity, where
// the clusters are, notable files, findings.
class VolumeReport {
 public:
  // `page` and what `options` refers to outlive this object; the section will be the next one of
  // the page. If a trace cannot be shown on the volume, that is a finding.
  VolumeReport(Page& page, ShownVolume volume, const SnapshotReportOptions& options,
               core::Findings& findings);
  VolumeReport(const VolumeReport&) = delete;
  VolumeReport& operator=(const VolumeReport&) = delete;

  void add(const ntfs::SummaryRow& row);
  const ntfs::VolumeSummary& summary() const { return summary_; }
  u64 rows() const { return rows_; }
  // For an image, after all rows: which clusters are free. Clusters of a file that $Bitmap calls
  // free are a finding.
  void add_use(ntfs::ClusterUseCounter& counter, core::Findings& findings);
  // Call one of these two once, after all rows. Adds the section.
  void finish(const std::vector<ShownFinding>& findings);
  // Adds no section.
  void abandon();

 private:
  void write_names(const VolumeAnswers& answers);

  Page& page_;
  ShownVolume volume_;
  const SnapshotReportOptions& options_;
  TracedVolumes* traced_;
  ntfs::VolumeSummary summary_;
  ntfs::VolumeNames names_;
  std::vector<ntfs::ClusterUse> use_;
  u64 rows_ = 0;
};

}  // namespace coldtrace::cli
