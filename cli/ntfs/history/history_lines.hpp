#pragma once

#include "cli/command/json_lines.hpp"
#include "cli/ntfs/ntfs_input.hpp"
#include "coldtrace/ntfs/gap.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"

namespace coldtrace::cli {

using ntfs::FileHistory;
using ntfs::FileVersion;
using ntfs::VolumeHistory;

// The state of a volume at one time: a shadow copy, or the current state.
struct HistoryView {
  ntfs::Partition partition;
  u64 start = partition.offset;  // of the volume, which may begin later in the partition
  bool opened = false;
  bool whole = true;            // absence of a file is reliable
  ntfs::LostRecords lost = {};  // but not of these
  core::Findings findings = {};
};

// One volume at all known times.
struct VolumeAtTimes {
  std::vector<HistoryView> views;
  VolumeHistory history;
};

struct HistoryCounts {
  u64 files = 0;
  u64 versions = 0;
};

// Writes histories in one format.
class HistoryWriter {
 public:
  HistoryWriter(const std::string& format, Int64 int64, const std::string& image, bool named,
                Output& output)
      : is_text_{format == "text"},
        named_{named},
        image_{image},
        output_{output},
        lines_{output, format, int64} {}

  // Writes one volume with its views in chronological order. `begin` writes the members of the
  // header before them.
  void write(const std::function<void(JsonWriter&)>& begin, const std::vector<HistoryView>& views,
             const VolumeHistory& history);
  void finish(const core::Findings& findings);

 private:
  void write_text(const std::vector<HistoryView>& views, const FileHistory& file);
  void write_version(const std::vector<HistoryView>& views, const FileHistory& file,
                     const FileVersion& version);

  bool is_text_;
  bool named_;  // partitions are shown with their names
  bool is_begun_ = false;
  const std::string& image_;
  Output& output_;
  JsonLines lines_;
  HistoryCounts counts_;
};

}  // namespace coldtrace::cli
