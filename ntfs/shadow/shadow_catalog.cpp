#include "ntfs/shadow/shadow_catalog.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "coldtrace/core/utf16.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;

constexpr std::size_t entry_size = 128;
constexpr std::size_t header_size = 512;

enum class EntryType : u64 { none = 0, unused = 1, copy = 2, store = 3 };

// What the entries of both types say of each store.
struct Entries {
  std::map<core::Guid, ShadowCopy> copies;
  std::map<core::Guid, ShadowCopy::Parts> parts;
  // Windows writes the entry of a store right behind that of its copy. One that is the first, or
  // behind that of another store, never had it: its copy is another volume's, whose blocks are kept
  // here (observed on two disks of Windows). Neither had one behind an entry that is not used:
  // Windows gives up both entries of a copy.
  struct Store {
    u64 at;  // bytes of the image
    bool of_other_volume;
  };
  std::map<core::Guid, Store> stores;
  EntryType before = EntryType::none;  // the entry before the one that is read
};

core::Guid read_guid(core::Reader& reader, core::Name field) {
  return core::to_guid(reader.take(core::Guid::size_on_disk, field));
}

// The values of one entry, behind its type.
void read_entry(core::Reader reader, EntryType type, Entries& entries, core::Findings& findings) {
  const u64 at = reader.offset();
  const u64 first = reader.read_u64("Value");
  const auto id = read_guid(reader, "StoreIdentifier");
  bool added = false;
  if (type == EntryType::copy) {
    ShadowCopy copy{};
    copy.store_id = id;
    copy.volume_size = first;
    copy.sequence = reader.read_u64("Sequence");
    copy.flags = reader.read_u64("Flags");
    copy.created = {reader.read_u64("CreationTime")};
    if (entries.copies.size() == most_shadow_copies) {
      findings.warning("shadow-catalog", at, "the catalog has more than {} shadow copies",
                       most_shadow_copies);
      return;
    }
    added = entries.copies.emplace(id, copy).second;
  } else {
    ShadowCopy::Parts parts{};
    parts.blocks = first;
    parts.header = reader.read_u64("Header");
    reader.skip(8, "BlockRanges");
    parts.bitmap = reader.read_u64("Bitmap");
    reader.skip(16, "FileReference");
    parts.previous_bitmap = reader.read_u64("PreviousBitmap");
    if (entries.parts.size() == most_shadow_copies) return;
    added = entries.parts.emplace(id, parts).second;
    const bool alone = entries.before == EntryType::store || entries.before == EntryType::none ||
                       entries.before == EntryType::unused;
    entries.stores.emplace(id, Entries::Store{at, alone});
  }
  if (!added)
    findings.warning("shadow-catalog", at, "the catalog has two entries for the store {}",
                     to_string(id));
}

// libvshadow takes 64 bits as the type. The fifth byte of a copy's is its priority (dfir_ntfs).
u64 known_type_bits(EntryType type) {
  return type == EntryType::copy ? 0xFF'FFFF'FFFF : 0xFFFF'FFFF;
}

void read_entries(core::ByteView block, u64 offset, Entries& entries, core::Findings& findings) {
  for (u64 at = shadow_block_header_size; at + entry_size <= block.size(); at += entry_size) {
    core::Reader reader{block.subspan(at, entry_size), "shadow catalog", offset + at};
    const u64 bits = reader.read_u64("EntryType");
    const auto type = static_cast<EntryType>(bits & 0xFFFFFFFF);
    if (type == EntryType::none && bits == 0) return;
    if ((bits & ~known_type_bits(type)) != 0)
      findings.warning("shadow-catalog", offset + at,
                       "the type of an entry of the catalog has unknown bits: {:#x}", bits);
    if (type == EntryType::none) return;
    if (type == EntryType::copy || type == EntryType::store)
      read_entry(reader, type, entries, findings);
    else if (type != EntryType::unused)
      findings.warning("shadow-catalog", offset + at,
                       "an entry of the catalog has the unknown type {}", static_cast<u64>(type));
    entries.before = type;
  }
}

core::Result<ShadowCopy::Store> read_store(core::ByteView block, u64 offset) {
  core::Reader reader{block, "shadow store", offset};
  reader.skip(shadow_block_header_size + core::Guid::size_on_disk, "Header");
  ShadowCopy::Store store{};
  store.copy_id = read_guid(reader, "ShadowCopyIdentifier");
  store.set_id = read_guid(reader, "ShadowCopySetIdentifier");
  reader.skip(8, "Context");
  store.attributes = reader.read_u32("Attributes");
  reader.skip(4, "Reserved");
  const auto size = reader.read_u16("OperatingMachineSize");
  store.machine = core::decode_utf16(reader.take(size, "OperatingMachine")).utf8;
  return reader.finish(std::move(store));
}

void read_stores(ShadowBlocks& blocks, std::vector<ShadowCopy>& copies, core::Findings& findings) {
  for (auto& copy : copies) {
    if (!copy.parts || copy.parts->header == 0) continue;
    const auto use = [&](core::ByteView block, u64 offset) {
      note_block_version(block, offset, "shadow-store", findings);
      if (copy.store) return;
      auto store = read_store(block, offset);
      if (store)
        copy.store = std::move(*store);
      else
        findings.warning("shadow-store", store.error());
    };
    if (const auto error = blocks.visit_chain(copy.parts->header, ShadowBlockType::store, use))
      findings.warning("shadow-store", error->offset,
                       "the header of the store of shadow copy {} cannot be read: {}", copy.number,
                       *error);
  }
}

}  // namespace

std::optional<ShadowHeader> read_shadow_header(const core::ImageSource& image, ShadowPlace place,
                                               core::Findings& findings) {
  std::array<std::byte, header_size> bytes;
  if (place.size < shadow_header_offset + header_size) return std::nullopt;
  const u64 at = place.offset + shadow_header_offset;
  if (const auto read = image.read_at(at, bytes); !read) {
    findings.warning("shadow-catalog", at,
                     "the header of shadow copies cannot be read, and any copies are missing: {}",
                     read.error());
    return std::nullopt;
  }
  if (!has_shadow_guid(bytes)) return std::nullopt;
  core::Reader reader{bytes, "shadow header", at};
  reader.skip(core::Guid::size_on_disk, "GUID");
  ShadowHeader header{};
  header.version = reader.read_u32("Version");
  reader.expect(static_cast<u32>(ShadowBlockType::header), "Type", Fault::bad_value);
  reader.expect(shadow_header_offset, "Offset", Fault::bad_value);
  reader.skip(16, "NextOffset");
  header.catalog = reader.read_u64("Catalog");
  header.largest_size = reader.read_u64("MaximumSize");
  header.volume_id = read_guid(reader, "VolumeIdentifier");
  header.storage_id = read_guid(reader, "StorageIdentifier");
  if (!reader.ok()) {
    findings.warning("shadow-catalog", reader.error());
    return std::nullopt;
  }
  if (header.version != 1 && header.version != 2)  // Windows Vista and 8 (libvshadow)
    findings.warning(
        "shadow-catalog", at,
        "the header of shadow copies has the unknown version {}: it is read as one of version 2",
        header.version);
  return header;
}

std::vector<ShadowCopy> read_shadow_catalog(ShadowBlocks& blocks, const ShadowHeader& header,
                                            core::Findings& findings) {
  Entries entries;
  const auto error = blocks.visit_chain(
      header.catalog, ShadowBlockType::catalog, [&](core::ByteView block, u64 offset) {
        note_block_version(block, offset, "shadow-catalog", findings);
        read_entries(block, offset, entries, findings);
      });
  if (error)
    findings.warning("shadow-catalog", error->offset,
                     "the catalog of shadow copies is damaged, and copies may be missing: {}",
                     *error);
  std::vector<ShadowCopy> copies;
  for (auto& [id, copy] : entries.copies) {
    const auto parts = entries.parts.find(id);
    if (parts != entries.parts.end())
      copy.parts = parts->second;
    else if (!header.elsewhere())
      findings.warning("shadow-store", blocks.place().offset + header.catalog,
                       "the catalog does not say where the store {} is", to_string(id));
    copies.push_back(std::move(copy));
  }
  for (const auto& [id, store] : entries.stores) {
    if (entries.copies.contains(id)) continue;
    if (store.of_other_volume)
      findings.info("shadow-other", store.at,
                    "the store {} keeps blocks of a shadow copy of another volume", to_string(id));
    else
      findings.warning("shadow-catalog", store.at,
                       "the catalog has the store {} and no entry that says what it is: a copy is "
                       "missing, and newer ones may have other numbers than Windows gave them",
                       to_string(id));
  }
  std::ranges::sort(copies, [](const ShadowCopy& one, const ShadowCopy& other) {
    return std::tie(one.sequence, one.created, one.store_id) <
           std::tie(other.sequence, other.created, other.store_id);
  });
  for (u32 number = 1; auto& copy : copies) copy.number = number++;
  if (header.elsewhere()) {
    for (auto& copy : copies) copy.parts.reset();
  } else {
    read_stores(blocks, copies, findings);
  }
  return copies;
}

}  // namespace coldtrace::ntfs
