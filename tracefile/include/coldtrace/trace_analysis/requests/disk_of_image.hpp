#pragma once

#include <optional>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/trace_analysis/requests/disk_io.hpp"

namespace coldtrace::trace_analysis {

// Whether an image is of the disk that a trace has requests to: where on that disk it begins, and
// what in the trace speaks against it.
class DiskOfImage {
 public:
  enum class Doubt : u8 {
    none,
    behind_end,      // requests go beyond the end of the image's disk
    other_disks,     // none is to this disk, but some are to others
    unlike_snapshot  // for most requests whose file the trace names, the image has another there
  };

  // The image begins `offset` bytes after the start of the disk with this number.
  DiskOfImage(u64 offset, u32 disk) : offset_{offset}, disk_{disk} {}
  // The image is of a whole disk, which has this many bytes.
  void set_whole_disk(u64 bytes) { end_ = core::checked_add(offset_, bytes); }

  // Where in the image a request begins; nothing if it goes to another disk or lies before the
  // image.
  std::optional<u64> add(const DiskRequest& request);
  // After all requests.
  [[nodiscard]] Doubt find_doubt(const DiskIo& requests) const;

  [[nodiscard]] u64 offset() const { return offset_; }
  [[nodiscard]] u32 disk() const { return disk_; }
  [[nodiscard]] std::optional<u64> end() const { return end_; }
  // Reads and writes that end beyond the end of the disk, and where the first of them begins.
  [[nodiscard]] u64 behind_end() const { return behind_end_; }
  [[nodiscard]] u64 first_behind_end() const { return first_behind_end_; }

 private:
  u64 offset_;
  u32 disk_;
  std::optional<u64> end_;
  u64 behind_end_ = 0;
  u64 first_behind_end_ = 0;
};

}  // namespace coldtrace::trace_analysis
