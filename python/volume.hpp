#pragma once

#include <memory>

#include "coldtrace/ntfs/journal/deleted_times.hpp"
#include "coldtrace/ntfs/shadow/shadow_copies.hpp"
#include "coldtrace/ntfs/snapshot.hpp"
#include "coldtrace/ntfs/volume.hpp"
#include "python/disk_images.hpp"
#include "python/values.hpp"

namespace coldtrace::python {

// Must not be changed, nor exceptions be raised, while other Python threads run.
struct Volume {
  std::shared_ptr<DiskImage> image;
  // For a shadow copy, what is read instead of the image.
  std::shared_ptr<const core::ImageSource> shadow;
  ntfs::Partition partition;
  ntfs::Volume volume;
  core::Findings findings;                         // except for those of its rows
  std::shared_ptr<const ntfs::Snapshot> snapshot;  // taken when files are first requested
  u64 turns = 0;                                   // of the walk of the iterator that came furthest
  // Those of the rows of the first so many turns; others are examined when somebody asks.
  core::Findings row_findings = {};
  u64 examined = 0;
  bool with_slack = false;
  bool with_zone_ids = false;
  std::shared_ptr<const ntfs::DeletedTimes> deleted = {};  // read when an expression first needs it
};

// Volume.journal().
void add_journals(py::module_& module, py::class_<Volume, std::shared_ptr<Volume>>& type);
// Volume.shadow_copies() and open_shadow().
void add_shadows(py::module_& module, py::class_<Volume, std::shared_ptr<Volume>>& type);

}  // namespace coldtrace::python
