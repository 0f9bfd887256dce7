#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cli/report/page/page.hpp"
#include "coldtrace/ntfs/volume_summary.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"

namespace coldtrace::cli {

// The volumes of an image on whose maps the requests of a trace are shown, with the names of files
// that the image has at their places.
class TracedVolumes {
 public:
  // The image begins `offset` bytes behind the start of the disk that the trace gives the number
  // `disk`. At most `names_limit` bytes of names are kept.
  TracedVolumes(u64 offset, u32 disk, std::size_t names_limit)
      : offset_{offset}, disk_{disk}, files_{names_limit} {}
  TracedVolumes(const TracedVolumes&) = delete;
  TracedVolumes& operator=(const TracedVolumes&) = delete;

  // The rows that follow are of this volume, whose section of the page has the number `section`.
  void begin_volume(std::size_t section, const ntfs::ClusterMap& clusters,
                    const ntfs::VolumeSummary& summary);
  void add(const ntfs::FileRow& row);
  // To be called once, after all rows.
  void finish() { files_.finish(); }

  // What names requests; nothing without a volume.
  std::optional<trace_analysis::DiskIo::Snapshot> on_disk() const;
  void add_request(const trace_analysis::DiskIo::Row& row);
  // Adds to the section of each volume what the trace did there.
  void write(Page& page, const trace_analysis::FileTable& files, u64 top) const;

 private:
  struct Sums {
    u64 reads = 0, read = 0, writes = 0, written = 0;  // requests and bytes
  };
  struct Volume {
    std::size_t section;
    ntfs::ClusterMap clusters;
    u64 place_bytes;
    std::vector<Sums> places;
    std::map<u32, Sums> files;  // by number
    Sums all;
  };

  static void write(Page::Section& section, const Volume& volume,
                    const trace_analysis::FileTable& files, u64 top);
  void add_to(Volume& volume, u64 at, const trace_analysis::DiskIo::Row& row) const;

  u64 offset_;
  u32 disk_;
  trace_analysis::DiskMap files_;
  std::vector<Volume> volumes_;
};

}  // namespace coldtrace::cli
