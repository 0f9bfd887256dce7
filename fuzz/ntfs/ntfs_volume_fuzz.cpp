#include <cstdint>

#include "coldtrace/core/image_source.hpp"
#include "coldtrace/ntfs/disk/partition.hpp"
#include "coldtrace/ntfs/walk.hpp"

using namespace coldtrace;

// Any bytes as an image: partitions, volume, all rows in all states. No more rows than names can
// be in so many bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  core::Findings findings;
  const auto disk = ntfs::read_disk(image, findings);
  for (const auto& partition : disk.partitions) {
    const auto volume = ntfs::Volume::open(
        image, {.offset = partition.offset, .size = partition.size, .anywhere = true}, findings);
    if (!volume) continue;
    const auto snapshot = ntfs::Snapshot::take(*volume, {.jobs = 1, .slack = true}, findings);
    ntfs::Walk walk{
        snapshot,
        {ntfs::State::live, ntfs::State::deleted, ntfs::State::detached, ntfs::State::unreachable,
         ntfs::State::stale, ntfs::State::slack, ntfs::State::unnamed}};
    ntfs::RowBatch batch;
    ntfs::FileRow row;
    std::size_t rows = 0;
    while (walk.next(batch)) {
      for (const auto& source : batch.rows) snapshot.build_row(batch, source, row);
      rows += batch.rows.size();
      if (rows > size) __builtin_trap();
    }
    for (u64 record = 0; record < 8; ++record) (void)volume->read_file(record);
    // One volume is enough work for one input.
    break;
  }
  return 0;
}
