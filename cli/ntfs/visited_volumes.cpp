#include "cli/ntfs/visited_volumes.hpp"

#include <fmt/format.h>

namespace coldtrace::cli {

UnopenedVolumes visit_volumes(
    const DiskInput& input, const DiskOptions& options,
    const std::function<void(const ntfs::Partition&, ntfs::Volume, core::Findings)>& visit) {
  UnopenedVolumes unopened;
  for (const auto& partition : input.chosen) {
    core::Findings findings;
    auto volume = open_volume(input, partition, options, findings);
    if (volume)
      visit(partition, std::move(*volume), std::move(findings));
    else
      unopened.add(partition, volume_failure(input, partition, volume.error()));
  }
  return unopened;
}

std::string volume_title(const std::string& image, const ntfs::Partition& partition) {
  return partition.number == 0 ? image : fmt::format("{} partition {}", image, partition.number);
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
