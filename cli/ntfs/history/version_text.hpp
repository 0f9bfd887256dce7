#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// Writes versions of files in a view: as text their size, times, streams and extents, else the JSON
// of their row, without where it was read. Names are hashed with `names` unless that is null. The
// snapshot has to outlive the result.
ntfs::VolumeHistory::Show show_versions(const ntfs::Snapshot& snapshot, bool as_text, unsigned jobs,
                                        const privacy::HashedNames* names);

// Hashes names of rows with `names`; nothing if that is null.
ntfs::VolumeHistory::Hide hide_names(const privacy::HashedNames* names, unsigned jobs);

// The members of a row, without those that say where it was read.
RowFields metadata_fields();

// A piece of such a text.
struct PlacedExtent {
  u64 clusters;
  std::optional<u64> offset;  // of the image
};
std::string extents_text(std::span<const PlacedExtent> extents);
std::string times_text(const ntfs::Times& times);
std::string stream_text(std::string_view name, std::optional<u64> size, std::string_view extents);

}  // namespace coldtrace::cli
