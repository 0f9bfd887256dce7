#pragma once

#include <functional>

#include "cli/ntfs/ntfs_input.hpp"
#include "cli/output/terminal_progress.hpp"
#include "coldtrace/ntfs/snapshot.hpp"

namespace coldtrace::cli {

// Opens the selected volumes one after another, and passes each to `visit` with the findings of
// opening it. Returns those that cannot be opened. The image of a shadow copy's volume ends with
// its visit, unless `keep` takes it.
using KeptImages = std::vector<std::unique_ptr<core::ImageSource>>;
UnopenedVolumes visit_volumes(
    const DiskInput& input, const DiskOptions& options,
    const std::function<void(const ntfs::Partition&, ntfs::Volume, core::Findings)>& visit,
    KeptImages* keep = nullptr);

// The name of a volume in messages: "disk.img partition 2 shadow copy 1".
std::string volume_title(const std::string& image, const ntfs::Partition& partition);

// ntfs::Snapshot::take() with `progress`.
ntfs::Snapshot take_snapshot(const ntfs::Volume& volume, unsigned jobs, bool slack,
                             TerminalProgress& progress, core::Findings& findings,
                             ntfs::Snapshot::RowOptions rows = {});

}  // namespace coldtrace::cli
