#include "cli/ntfs/visited_volumes.hpp"

#include "cli/ntfs/rows/volume_name.hpp"
#include "cli/ntfs/shadow_option.hpp"

namespace coldtrace::cli {

UnopenedVolumes visit_volumes(
    const DiskInput& input, const DiskOptions& options,
    const std::function<void(const ntfs::Partition&, ntfs::Volume, core::Findings)>& visit,
    KeptImages* keep) {
  UnopenedVolumes unopened;
  for (const auto& partition : input.chosen) {
    core::Findings findings;
    std::unique_ptr<core::ImageSource> shadow;
    if (partition.shadow) {
      auto opened = open_shadow(input.shadows, partition, findings);
      if (!opened) {
        unopened.add(partition, opened.error());
        continue;
      }
      shadow = std::move(*opened);
    }
    const auto& image = shadow ? *shadow : *input.file.source;
    auto volume = ntfs::open_volume(input, image, partition, options.choice(), findings);
    if (volume)
      visit(partition, std::move(*volume), std::move(findings));
    else
      unopened.add(partition, volume_failure(input, partition, volume.error()));
    if (keep != nullptr && shadow) keep->push_back(std::move(shadow));
  }
  return unopened;
}

std::string volume_title(const std::string& image, const ntfs::Partition& partition) {
  return volume_title(image, partition.number, partition.shadow ? partition.shadow->number : 0);
}

ntfs::Snapshot take_snapshot(const ntfs::Volume& volume, unsigned jobs, bool slack,
                             TerminalProgress& progress, core::Findings& findings,
                             ntfs::Snapshot::RowOptions rows) {
  const auto begin = [&](ntfs::Snapshot::Pass pass, u64 bytes) {
    const bool records = pass == ntfs::Snapshot::Pass::records;
    progress.begin(records ? "reading $MFT" : "reading directories",
                   records ? "records" : "index buffers", bytes);
    return progress.hook();
  };
  return ntfs::Snapshot::take(volume, {.jobs = jobs, .slack = slack, .rows = rows, .begin = begin},
                              findings);
}

}  // namespace coldtrace::cli
