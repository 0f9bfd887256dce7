#pragma once

#include <memory>

#include "coldtrace/ntfs/journal/deleted_times.hpp"
#include "coldtrace/ntfs/shadow/shadow_copies.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/ntfs/volume.hpp"
#include "python/disk_images.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

// What is not done while other threads of Python run: changes of these, and raising.
struct Volume {
  std::shared_ptr<DiskImage> image;
  // What is read instead of it, of a shadow copy.
  std::shared_ptr<const core::ImageSource> shadow;
  ntfs::Partition partition;
  ntfs::Volume volume;
  core::Findings findings;                         // but for those of its rows
  std::shared_ptr<const ntfs::Snapshot> snapshot;  // taken when files are first asked for
  // Of the rows that the iterator had which came furthest, of so many batches.
  core::Findings row_findings = {};
  u64 batches = 0;
  bool with_slack = false;
  bool with_zone_ids = false;
  std::shared_ptr<const ntfs::DeletedTimes> deleted =
      {};  // read when an expression first asks for it
};

// Volume.journal().
void add_journals(py::module_& module, py::class_<Volume, std::shared_ptr<Volume>>& type);
// Volume.shadow_copies() and open_shadow().
void add_shadows(py::module_& module, py::class_<Volume, std::shared_ptr<Volume>>& type);

}  // namespace coldtrace::python
