#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/ntfs/rows/ntfs_rows.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"
#include "coldtrace/privacy/hashed_names.hpp"

namespace coldtrace::cli {

// Writes versions of files of a view: as text their size, times, streams and where they lie, else
// the JSON of their row, without what says where it was read. Names are hashed with `names`, where
// it is not null. The snapshot outlives what is returned.
ntfs::VolumeHistory::Show show_versions(const ntfs::Snapshot& snapshot, bool as_text, unsigned jobs,
                                        const privacy::HashedNames* names);

// Hashes names of rows with `names`; nothing where it is null.
ntfs::VolumeHistory::Hide hide_names(const privacy::HashedNames* names, unsigned jobs);

// The members of a row that say nothing of where it was read.
RowFields metadata_fields();

// The pieces of such a text.
struct PlacedExtent {
  u64 clusters;
  std::optional<u64> offset;  // of the image
};
std::string extents_text(std::span<const PlacedExtent> extents);
std::string times_text(const ntfs::Times& times);
std::string stream_text(std::string_view name, std::optional<u64> size, std::string_view extents);

}  // namespace coldtrace::cli
