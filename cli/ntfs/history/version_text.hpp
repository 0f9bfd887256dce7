#pragma once

#include "coldtrace/ntfs/history/volume_history.hpp"

namespace coldtrace::cli {

// Writes versions of files of a view: as text their size, times, streams and where they lie, else
// the JSON of their row, without what says where it was read. The snapshot outlives what is
// returned.
ntfs::VolumeHistory::Show show_versions(const ntfs::Snapshot& snapshot, bool as_text,
                                        unsigned jobs);

}  // namespace coldtrace::cli
