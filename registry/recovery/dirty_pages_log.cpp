#include "registry/recovery/dirty_pages_log.hpp"

namespace coldtrace::registry {
namespace {

constexpr u64 page_size = 512;
constexpr u64 bitmap_offset = BaseBlock::sector_size + 4;  // behind "DIRT"

bool is_dirty(core::ByteView bitmap, u64 page) {
  return (static_cast<unsigned>(bitmap[page / 8]) >> (page % 8) & 1) != 0;
}

}  // namespace

bool is_log_of(const BaseBlock& log, const BaseBlock& hive, core::ByteView hive_bytes) {
  constexpr u64 time_of_first_bin = BaseBlock::size + 20;
  if (log.last_written == hive.last_written) return true;
  return !hive.has_checksum() &&
         core::load<u64>(hive_bytes, time_of_first_bin) == log.last_written.ticks;
}

void apply_dirty_pages(HiveBytes& hive, const LogFile& log, const BaseBlock& base, LogUse& use,
                       core::Findings& findings) {
  const u64 pages = base.bins_size / page_size;
  core::Reader reader{log.bytes, "hive log", 0};
  reader.skip(BaseBlock::sector_size, "BaseBlock");
  reader.expect<u32>(0x54524944, "Signature");  // "DIRT"
  if (base.primary_sequence != base.secondary_sequence)
    reader.reject(core::Fault::bad_value, BaseBlock::sequence_offset + 4, "SecondarySequenceNumber",
                  base.primary_sequence, base.secondary_sequence);
  if (!hive.fits(base.bins_size))
    reader.reject(core::Fault::limit, BaseBlock::bins_size_offset, "HiveBinsDataSize", 0,
                  base.bins_size);
  const auto bitmap = reader.take((pages + 7) / 8, "Bitmap");
  const u64 bitmap_end = bitmap_offset + bitmap.size();
  reader.skip((page_size - bitmap_end % page_size) % page_size, "Padding");
  std::vector<std::pair<u64, core::ByteView>> found;
  for (u64 page = 0; reader.ok() && page < pages; ++page)
    if (is_dirty(bitmap, page))
      found.emplace_back(page * page_size, reader.take(page_size, "DirtyPage"));
  if (!reader.ok()) {
    use.left = "incomplete or damaged";
    findings.warning("hive-log-damaged", reader.error().offset, "{}: {}; none of it is applied",
                     log.name, reader.error());
    return;
  }
  for (const auto& [offset, content] : found) hive.write_page(offset, content);
  hive.write_sector(log.bytes);
  hive.close(base.primary_sequence, base.bins_size);
  use.entries = 1;
  use.pages = found.size();
}

}  // namespace coldtrace::registry
