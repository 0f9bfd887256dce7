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
  std::string id = "volume";        // prefix of the ids of elements
  u64 largest = 0;                  // limit for the size of the page
  TracedVolumes* traced = nullptr;  // gets the volumes, if not null
};

// What is known of a volume before its rows.
struct ShownVolume {
  std::string title;
  std::string id;  // prefix of the ids of elements
  ntfs::ClusterMap clusters;
  bool of_mft_alone = false;
};

// The shadow copy that shows a volume as it was.
struct ShownShadow {
  u64 number;
  std::string created;  // "2024-01-17T22:20:00.0000000Z"; may be empty
};

// 'Partition 2 "DATA"', 'Partition 2 "DATA", shadow copy 1 of 2024-01-17T22:20:00'; for partition
// 0, 'Volume'.
std::string volume_heading(u64 partition, std::string_view label,
                           const std::optional<ShownShadow>& shadow = {});

// Collects a volume for its section of a page: how much is in which state, sizes, activity, the map
// of clusters, notable files, findings.
class VolumeReport {
 public:
  // `page` and what `options` refer to have to outlive it; its section will be the next one of the
  // page. It is a finding if a trace cannot be shown on the volume.
  VolumeReport(Page& page, ShownVolume volume, const SnapshotReportOptions& options,
               core::Findings& findings);
  VolumeReport(const VolumeReport&) = delete;
  VolumeReport& operator=(const VolumeReport&) = delete;

  void add(const ntfs::SummaryRow& row);
  const ntfs::VolumeSummary& summary() const { return summary_; }
  u64 rows() const { return rows_; }
  // For an image, after all rows: which clusters are free. It is a finding if $Bitmap has clusters
  // of a file as free.
  void add_use(ntfs::ClusterUseCounter& counter, core::Findings& findings);
  // Adds the section. Either this or abandon() has to be called once, after all rows.
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
