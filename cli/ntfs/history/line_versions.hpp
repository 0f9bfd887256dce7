#pragma once

#include <optional>
#include <string>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"

namespace coldtrace::cli {

// Versions of files, of the lines of a snapshot.

// Which row a "file" line is; nothing where it does not say so. The path is `path`'s then.
// What is of another type than its member has is told to `mistyped`, here and below.
std::optional<ntfs::VolumeHistory::Row> read_history_row(const rapidjson::Value& json,
                                                         std::string& path,
                                                         MistypedMembers& mistyped);

// The line as JSON, without what says where it was read: what two versions are told apart by.
std::string version_line(const rapidjson::Value& json);

// Its path, times, streams and where they lie.
std::string version_summary(const rapidjson::Value& json, MistypedMembers& mistyped);

}  // namespace coldtrace::cli
