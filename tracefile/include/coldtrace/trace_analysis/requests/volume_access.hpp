#pragma once

#include <map>
#include <vector>

#include "coldtrace/trace_analysis/requests/disk_io.hpp"

namespace coldtrace::trace_analysis {

// What requests read and wrote on one volume of a disk, by place and by file. A place is a run of
// bytes of the volume; all have the same length except the last. A sum that is too large stays at
// the largest number.
class VolumeAccess {
 public:
  struct Sums {
    u64 reads = 0, read = 0, writes = 0, written = 0;  // requests and bytes

    [[nodiscard]] u64 requests() const { return reads + writes; }
  };

  // The volume has `size` bytes from byte `begin` of the disk on, in `places` of `place_bytes`
  // each, which is not 0.
  VolumeAccess(u64 begin, u64 size, u64 place_bytes, std::size_t places)
      : begin_{begin}, size_{size}, place_bytes_{place_bytes}, places_(places) {}

  // A request that begins at byte `at` of the disk. Only reads and writes that begin in the volume
  // count; one that spans several places counts as a request to each.
  void add(u64 at, const DiskIo::Row& row);

  [[nodiscard]] u64 place_bytes() const { return place_bytes_; }
  [[nodiscard]] const Sums& all() const { return all_; }
  [[nodiscard]] const std::vector<Sums>& places() const { return places_; }
  // By their numbers in the table of the requests; 0 is a file without a known name.
  [[nodiscard]] const std::map<u32, Sums>& files() const { return files_; }

 private:
  u64 begin_, size_, place_bytes_;
  std::vector<Sums> places_;
  std::map<u32, Sums> files_;
  Sums all_;
};

}  // namespace coldtrace::trace_analysis
