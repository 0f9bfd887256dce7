#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report/page/page.hpp"
#include "coldtrace/ntfs/summary/volume_summary.hpp"
#include "coldtrace/trace_analysis/requests/disk_of_image.hpp"
#include "coldtrace/trace_analysis/requests/volume_access.hpp"

namespace coldtrace::cli {

// The volumes of an image on whose maps the requests of a trace are shown, with the names of the
// files at those locations.
class TracedVolumes {
 public:
  // The image begins `offset` bytes after the start of the disk that has the number `disk` in the
  // trace. At most `names_limit` bytes of names are kept.
  TracedVolumes(u64 offset, u32 disk, std::size_t names_limit)
      : image_{offset, disk}, files_{names_limit} {}
  TracedVolumes(const TracedVolumes&) = delete;
  TracedVolumes& operator=(const TracedVolumes&) = delete;

  // The image is of a whole disk of this many bytes.
  void set_whole_disk(u64 bytes) { image_.set_whole_disk(bytes); }
  // The following rows belong to this volume, whose section of the page has the number `section`.
  void begin_volume(std::size_t section, const ntfs::ClusterMap& clusters,
                    const ntfs::VolumeSummary& summary);
  void add(const ntfs::SummaryRow& row);
  std::size_t volumes() const { return volumes_.size(); }
  // Volumes after the first `count` have no section after all.
  void keep_volumes(std::size_t count) {
    volumes_.erase(volumes_.begin() + static_cast<std::ptrdiff_t>(count), volumes_.end());
  }
  // Call this once, after all rows.
  void finish() { files_.finish(); }

  // What gives names to requests; nothing without a volume.
  std::optional<trace_analysis::DiskIo::Snapshot> on_disk() const;
  void add_request(const trace_analysis::DiskIo::Row& row);
  // After all requests: the warnings if some lie after the end of the disk, or there are none to
  // any disk.
  void note_findings(const trace_analysis::DiskIo& requests, core::Findings& findings) const;
  // Adds to the section of each volume what happened there during the trace, or why the trace
  // cannot be of this disk.
  void write(Page& page, const trace_analysis::DiskIo& requests, u64 top) const;

 private:
  struct Volume {
    std::size_t section;
    ntfs::ClusterMap clusters;
    trace_analysis::VolumeAccess access;
  };

  static void write(Page::Section& section, const Volume& volume,
                    const trace_analysis::FileTable& files, u64 top);
  // Empty if nothing contradicts it.
  std::string why_another(const trace_analysis::DiskIo& requests) const;

  trace_analysis::DiskOfImage image_;
  trace_analysis::DiskMap files_;
  std::vector<Volume> volumes_;
};

}  // namespace coldtrace::cli
