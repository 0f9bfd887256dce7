#pragma once

#include <functional>

#include "cli/ntfs/ntfs_input.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::cli {

// Opens the volumes that the options ask for, one after the other, and gives each to `visit` with
// what opening it showed. Returns those that cannot be opened. The image that a volume of a shadow
// copy is in ends with its visit, but where `keep` takes it.
using KeptImages = std::vector<std::unique_ptr<core::ImageSource>>;
UnopenedVolumes visit_volumes(
    const DiskInput& input, const DiskOptions& options,
    const std::function<void(const ntfs::Partition&, ntfs::Volume, core::Findings)>& visit,
    KeptImages* keep = nullptr);

// How messages name a volume: "disk.img partition 2 shadow copy 1".
std::string volume_title(const std::string& image, const ntfs::Partition& partition);

// ntfs::Snapshot::take(), which `progress` shows.
ntfs::Snapshot take_snapshot(const ntfs::Volume& volume, unsigned jobs, bool slack,
                             TerminalProgress& progress, core::Findings& findings,
                             ntfs::Snapshot::RowOptions rows = {});

}  // namespace coldtrace::cli
