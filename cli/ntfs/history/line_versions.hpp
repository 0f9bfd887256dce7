#pragma once

#include <optional>
#include <string>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"

namespace coldtrace::cli {

// Versions of files, from the lines of a snapshot.

// The row that a "file" line describes, or nothing if it does not say which. Its path is a view of
// `path`. Here and below, members of the wrong type are added to `mistyped`.
std::optional<ntfs::VolumeHistory::Row> read_history_row(const rapidjson::Value& json,
                                                         std::string& path,
                                                         MistypedMembers& mistyped);

// The line as JSON, without where it was read: what two versions differ by.
std::string version_line(const rapidjson::Value& json);

// Its path, times, streams and their extents.
std::string version_summary(const rapidjson::Value& json, MistypedMembers& mistyped);

}  // namespace coldtrace::cli
