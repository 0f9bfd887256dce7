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

// Values in the lines of a snapshot. One of the wrong type counts as absent, and is added to
// `mistyped`.

std::optional<ntfs::State> read_snapshot_state(const rapidjson::Value& json,
                                               MistypedMembers& mistyped);

// Whether a volume is a copied $MFT.
bool is_of_mft_alone(const rapidjson::Value& volume);
// What the first line of a volume says about its clusters; `volume` is that member of it.
ntfs::StatedClusters read_stated_clusters(const rapidjson::Value& header,
                                          const rapidjson::Value& volume);

// The file of a row, and its state; nothing for what is not stated.
struct StatedFile {
  std::optional<ntfs::FileReference> file;
  std::optional<ntfs::State> state;
};
StatedFile read_snapshot_file(const rapidjson::Value& json, MistypedMembers& mistyped);

// Whether the member `units` is there, and is of another text than the member `text` beside it.
bool has_other_units(const rapidjson::Value& json, const char* text, const char* units);
// The same of bytes that are not UTF-8.
bool has_other_bytes(const rapidjson::Value& json, const char* text, const char* bytes);
// Adds the members of a row in which units or bytes are of another text than the one beside them.
void check_units(const rapidjson::Value& row, MistypedMembers& mistyped);

// The path of a row, and the name of it or of a stream, as exact text.
std::string read_exact_path(const rapidjson::Value& json);
std::string read_exact_name(const rapidjson::Value& json);
// The target in the member "reparse".
std::string read_exact_target(const rapidjson::Value& reparse);
// The bytes of a text that should be UTF-8.
std::string read_exact_bytes(const rapidjson::Value& json, const char* text, const char* bytes);

// Of a gap that does not say which records it has, any may be lost.
ntfs::Gap read_snapshot_gap(const rapidjson::Value& json);

// A file's times in the member "si" or "fn"; times that are not set are 0.
std::optional<ntfs::Times> read_snapshot_times(const rapidjson::Value& json, const char* member,
                                               MistypedMembers& mistyped);

// Whether the members of a stream have the right types; extents are not checked.
bool is_snapshot_stream(const rapidjson::Value& json);

// One of the extents of a stream in `member`.
ntfs::Extent read_snapshot_extent(const rapidjson::Value& json, std::string_view member,
                                  MistypedMembers& mistyped);

}  // namespace coldtrace::cli
