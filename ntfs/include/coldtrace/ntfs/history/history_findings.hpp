#pragma once

#include <span>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/ntfs/history/volume_history.hpp"

namespace coldtrace::ntfs {

// Which of so many paths that were asked for no volume has.
[[nodiscard]] std::vector<std::size_t> find_missing_paths(
    std::span<const VolumeHistory* const> volumes, std::size_t paths);

// `history-limit`: files or versions of any volume are left out.
void note_history_limit(std::span<const VolumeHistory* const> volumes, core::Findings& findings);

}  // namespace coldtrace::ntfs
