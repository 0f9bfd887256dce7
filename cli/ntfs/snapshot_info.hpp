#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/ntfs/snapshot_header.hpp"
#include "cli/output/output.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/row.hpp"

namespace coldtrace::cli {

// What the NDJSON of a snapshot says about its volumes.
struct SnapshotInfo {
  struct Volume {
    SnapshotHeader header;
    std::array<u64, ntfs::state_count> rows{};  // by state
    bool stateless = false;  // some rows lack theirs, so the numbers are not known
    u64 gaps = 0;
  };
  std::vector<Volume> volumes;
  bool complete = false;  // its last line is there, and all others could be read
};

// Of the requested `partition`, or all; or why the file is not a snapshot, or has several runs.
core::Expected<SnapshotInfo, std::string> read_snapshot_info(const core::ImageSource& file,
                                                             std::optional<u32> partition,
                                                             Int64 int64, core::Findings& findings);

void write_snapshot_info_json(JsonWriter& json, const SnapshotInfo& info);
void write_snapshot_info_text(Output& output, const std::string& path, const SnapshotInfo& info);

}  // namespace coldtrace::cli
