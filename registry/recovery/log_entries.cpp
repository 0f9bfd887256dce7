#include "registry/recovery/log_entries.hpp"

#include "registry/recovery/marvin32.hpp"

namespace coldtrace::registry {
namespace {

using core::Fault;

constexpr u64 header_size = 40;
constexpr u64 reference_size = 8;
constexpr u32 signature = 0x454c7648;  // "HvLE"

struct Entry {
  u32 size;
  u32 sequence;
  u32 bins_size;
  u32 pages;
};

// The entry at the start of `bytes`, whose hashes and sizes are right.
core::Result<Entry> read_entry(core::ByteView bytes, u64 offset) {
  core::Reader reader{bytes, "hive log entry", offset};
  reader.expect<u32>(signature, "Signature");
  Entry entry{};
  entry.size = reader.read_u32("Size");
  reader.skip(4, "Flags");
  entry.sequence = reader.read_u32("SequenceNumber");
  const auto bins_at = reader.offset();
  entry.bins_size = reader.read_u32("HiveBinsDataSize");
  entry.pages = reader.read_u32("DirtyPagesCount");
  const auto hash_1 = reader.read_u64("Hash1");
  const auto hash_2 = reader.read_u64("Hash2");
  if (!reader.ok()) return core::fail(reader.error());
  const auto whole = core::slice(bytes, 0, entry.size);
  if (!whole || entry.size < header_size + entry.pages * reference_size)
    reader.reject(Fault::truncated, offset, "Size", entry.size, bytes.size());
  else if (const auto hash = marvin32(bytes.first(32)); hash != hash_2)
    reader.reject(Fault::bad_value, offset + 32, "Hash2", hash, hash_2);
  else if (const auto data_hash = marvin32(whole->subspan(header_size)); data_hash != hash_1)
    reader.reject(Fault::bad_value, offset + 24, "Hash1", data_hash, hash_1);
  else if (entry.size % BaseBlock::sector_size != 0)
    reader.reject(Fault::bad_value, offset + 4, "Size", BaseBlock::sector_size, entry.size);
  else if (entry.bins_size == 0 || entry.bins_size % BaseBlock::size != 0)
    reader.reject(Fault::bad_value, bins_at, "HiveBinsDataSize", BaseBlock::size, entry.bins_size);
  return reader.finish(entry);
}

// Writes its pages, once all are known to have a place.
core::Result<core::Done> apply_entry(HiveBytes& hive, core::ByteView bytes, const Entry& entry,
                                     u64 offset) {
  core::Reader references{bytes.subspan(header_size), "hive log entry", offset + header_size};
  core::Reader pages{bytes, "hive log entry", offset};
  pages.skip(header_size + entry.pages * reference_size, "DirtyPagesReferences");
  if (!hive.fits(entry.bins_size))
    references.reject(Fault::limit, offset + 16, "HiveBinsDataSize", core::not_one_number,
                      entry.bins_size);
  std::vector<std::pair<u32, core::ByteView>> found;
  for (u32 i = 0; references.ok() && pages.ok() && i < entry.pages; ++i) {
    const auto at = references.offset();
    const auto page = references.read_u32("PageOffset");
    const auto size = references.read_u32("PageSize");
    if (u64{page} + size > entry.bins_size)
      references.reject(Fault::out_of_bounds, at, "PageOffset", entry.bins_size, page);
    found.emplace_back(page, pages.take(size, "DirtyPage"));
  }
  if (!references.ok()) return core::fail(references.error());
  if (!pages.ok()) return core::fail(pages.error());
  for (const auto& [page, content] : found) hive.write_page(page, content);
  return core::Done{};
}

}  // namespace

void apply_entries(HiveBytes& hive, const LogFile& log, LogUse& use, EntryProgress& progress,
                   core::Findings& findings) {
  for (u64 at = BaseBlock::sector_size; core::load<u32>(log.bytes, at) == signature;) {
    const auto bytes = log.bytes.subspan(at);
    const auto entry = read_entry(bytes, at);
    const auto stop = [&](const core::ParseError& error) {
      progress.stopped = true;
      use.left = "stopped at an entry that is damaged or was not written completely";
      findings.warning("hive-log-damaged", error.offset,
                       "{}: {}; this and later changes are missing", log.name, error);
    };
    if (!entry) return stop(entry.error());
    at += entry->size;
    if (entry->sequence < progress.first) continue;                  // the hive has it already
    if (progress.last && entry->sequence <= *progress.last) return;  // left over from before
    if (progress.last && entry->sequence != *progress.last + 1) {
      progress.stopped = true;
      use.left = "an entry in between is missing";
      findings.warning("hive-log-gap", at - entry->size,
                       "{}: entry {} follows entry {}: entries in between are missing; this and "
                       "later changes are not applied",
                       log.name, entry->sequence, *progress.last);
      return;
    }
    if (const auto done = apply_entry(hive, bytes.first(entry->size), *entry, at - entry->size);
        !done)
      return stop(done.error());
    progress.last = entry->sequence;
    progress.bins_size = entry->bins_size;
    ++use.entries;
    use.pages += entry->pages;
  }
}

}  // namespace coldtrace::registry
