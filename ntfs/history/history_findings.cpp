#include "coldtrace/ntfs/history/history_findings.hpp"

#include <algorithm>

namespace coldtrace::ntfs {

std::vector<std::size_t> find_missing_paths(std::span<const VolumeHistory* const> volumes,
                                            std::size_t paths) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < paths; ++i)
    if (std::ranges::none_of(volumes,
                             [i](const VolumeHistory* volume) { return volume->found()[i]; }))
      missing.push_back(i);
  return missing;
}

void note_history_limit(std::span<const VolumeHistory* const> volumes, core::Findings& findings) {
  if (std::ranges::any_of(volumes, &VolumeHistory::limited))
    findings.warning("history-limit", std::nullopt,
                     "there are more than {} files or versions of them; the others are left out",
                     VolumeHistory::most_versions);
}

}  // namespace coldtrace::ntfs
