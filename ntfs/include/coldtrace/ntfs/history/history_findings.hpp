#pragma once

#include <span>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"

namespace coldtrace::ntfs {

// Reports which of this many requested paths are on no volume.
[[nodiscard]] std::vector<std::size_t> find_missing_paths(
    std::span<const VolumeHistory* const> volumes, std::size_t paths);

// `history-limit`: files or versions of a volume are left out.
void note_history_limit(std::span<const VolumeHistory* const> volumes, core::Findings& findings);

}  // namespace coldtrace::ntfs
