#include <cstdint>

#include "coldtrace/ntfs/journal/journal_replay.hpp"

using namespace coldtrace;

namespace {

// Rows never have more records than bytes allow, lie in the stream, and name their directory.
u64 replay(const core::ImageSource& image, bool events) {
  const auto stream = ntfs::JournalStream::of_file(image);
  ntfs::JournalReplay replay{stream, {}, {.events = events}};
  core::Findings findings;
  ntfs::JournalBatch batch;
  std::string path;
  u64 records = 0;
  while (replay.next(batch, findings)) {
    for (const auto& row : batch.rows) {
      path.clear();
      batch.append_path(row, path);
      if (row.path_known == path.empty()) __builtin_trap();
      if (row.offset && *row.offset >= image.size()) __builtin_trap();
      records += row.event ? batch.events[*row.event].records : 1;
      for (u64 i = 0; i < row.record.extent_count(); ++i) (void)row.record.extent(i);
    }
    for (const auto& gap : batch.gaps)
      if (gap.before_row > batch.rows.size()) __builtin_trap();
  }
  if (replay.counts().records * ntfs::UsnRecord::smallest > image.size()) __builtin_trap();
  return records;
}

}  // namespace

// Any bytes as a copied $J: each record is in one row, or in one event.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const core::MemoryImage image{std::as_bytes(std::span{data, size})};
  if (replay(image, false) != replay(image, true)) __builtin_trap();
  return 0;
}
