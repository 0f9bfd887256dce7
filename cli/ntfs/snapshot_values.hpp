#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <rapidjson/fwd.h>

#include "cli/ntfs/snapshot_lines.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/gap.hpp"
#include "coldtrace/ntfs/row.hpp"
#include "coldtrace/ntfs/snapshot-file/stated_clusters.hpp"
#include "coldtrace/ntfs/structures/standard_information.hpp"

namespace coldtrace::cli {

// Values of the lines of a snapshot. What is of another type than its member has counts as none,
// and is told to `mistyped`.

std::optional<ntfs::State> read_snapshot_state(const rapidjson::Value& json,
                                               MistypedMembers& mistyped);

// Whether a volume is a $MFT that was copied out.
bool is_of_mft_alone(const rapidjson::Value& volume);
// What the line that begins a volume says of its clusters; `volume` is that member of it.
ntfs::StatedClusters read_stated_clusters(const rapidjson::Value& header,
                                          const rapidjson::Value& volume);

// Which file a row is of, and in which state; nothing of what is not said.
struct StatedFile {
  std::optional<ntfs::FileReference> file;
  std::optional<ntfs::State> state;
};
StatedFile read_snapshot_file(const rapidjson::Value& json, MistypedMembers& mistyped);

// The path of a row as exact text.
std::string read_exact_path(const rapidjson::Value& json);

// Of one whose records are not said any may be lost.
ntfs::Gap read_snapshot_gap(const rapidjson::Value& json);

// The times of a file in a member, "si" or "fn"; times that are not set are 0.
std::optional<ntfs::Times> read_snapshot_times(const rapidjson::Value& json, const char* member,
                                               MistypedMembers& mistyped);

// Whether the members of a stream are of the types they have; its extents are not looked at.
bool is_snapshot_stream(const rapidjson::Value& json);

// One of the extents of a stream of `member`.
ntfs::Extent read_snapshot_extent(const rapidjson::Value& json, std::string_view member,
                                  MistypedMembers& mistyped);

}  // namespace coldtrace::cli
