#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ntfs/history/history_lines.hpp"
#include "cli/ntfs/snapshot_header.hpp"
#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/image_source.hpp"

namespace coldtrace::cli {

// The versions of files in the NDJSON of a snapshot: one of each file, or one for each shadow copy
// that it includes.
class SnapshotHistory {
 public:
  SnapshotHistory(core::Borrowed<core::ImageSource> file, const std::vector<std::string>& paths,
                  std::optional<u32> partition, bool as_text)
      : file_{file.get()}, paths_{paths}, partition_{partition}, as_text_{as_text} {}

  // Why it has no history; empty if it has one.
  std::string read(core::Findings& findings);

  // What it leaves out, as in ntfs::SnapshotNames.
  const std::string& left_out() const { return left_out_; }
  bool has_shadows() const { return has_shadows_; }

  const std::vector<VolumeAtTimes>& volumes() const { return volumes_; }
  // The header of the first view of a volume.
  const SnapshotHeader& header(std::size_t volume) const { return headers_[volume]; }

 private:
  struct View {
    std::size_t volume;
    std::size_t view;
  };
  void begin(const SnapshotHeader& header);
  // Passes each "file" line of a chosen view to `visit`, as VolumeHistory::Row.
  template <class Visit>
  void visit_rows(Visit visit);

  const core::ImageSource& file_;
  const std::vector<std::string>& paths_;
  std::optional<u32> partition_;
  bool as_text_;
  std::vector<VolumeAtTimes> volumes_;
  std::vector<SnapshotHeader> headers_;
  MistypedMembers mistyped_;
  std::string left_out_;
  bool has_shadows_ = false;
  std::vector<std::optional<View>> views_;  // one per header line of the file
};

}  // namespace coldtrace::cli
