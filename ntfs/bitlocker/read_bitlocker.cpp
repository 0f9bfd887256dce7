#include "coldtrace/ntfs/bitlocker/read_bitlocker.hpp"

#include <algorithm>

#include <nettle/sha2.h>

#include "coldtrace/core/checksums.hpp"
#include "coldtrace/core/utf16.hpp"
#include "ntfs/bitlocker/conversion_bitmaps.hpp"
#include "ntfs/bitlocker/datums.hpp"
#include "ntfs/bitlocker/nettle_bytes.hpp"

namespace coldtrace::ntfs {
namespace {

using core::ByteView;
using core::Fault;

constexpr core::Name metadata_name = "BitLocker metadata";
constexpr auto recognition_id = *core::parse_guid("4967d63b-2e29-4ad8-8399-f6a339e3d001");
constexpr auto conversion_id = *core::parse_guid("92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8");
constexpr u64 heads_size = 0x40 + 0x30;  // of a copy, and of its datums
constexpr u64 check_size = 8;            // of the checksum behind a copy
constexpr u64 copy_room = 0x10000;

// What the first sector says.
struct FirstSector {
  u32 sector_size = 512;
  u64 cluster_size = 0;
  bool to_go = false;
  std::vector<u64> copies;
  std::vector<u64> bitmaps;  // copies of the list of bitmaps
};

FirstSector read_first_sector(ByteView sector) {
  FirstSector first;
  const auto sector_size = core::load<u16>(sector, 11).value_or(0);
  if (sector_size != 0) first.sector_size = sector_size;
  first.cluster_size = u64{first.sector_size} * core::load<u8>(sector, 13).value_or(0);
  for (const u64 at : {u64{0xA0}, u64{0x1A8}}) {
    const auto id = core::to_guid(core::slice(sector, at, 16).value_or(ByteView{}));
    if (id != recognition_id && id != conversion_id) continue;
    first.to_go = at == 0x1A8;
    for (u64 i = 0; i < 3; ++i)
      first.copies.push_back(core::load<u64>(sector, at + 16 + 8 * i).value_or(0));
    if (id == conversion_id)
      for (u64 i = 0; i < 2; ++i)
        first.bitmaps.push_back(core::load<u64>(sector, at + 40 + 8 * i).value_or(0));
    return first;
  }
  // Windows Vista has no such GUID, and a cluster instead of that of $MFTMirr.
  const u64 cluster = core::load<u64>(sector, 0x38).value_or(0);
  if (first.cluster_size != 0 && cluster <= ~u64{0} / first.cluster_size)
    first.copies.push_back(cluster * first.cluster_size);
  return first;
}

// One of the three copies.
struct Copy {
  u64 offset = 0;  // in the volume
  u16 version = 0;
  std::vector<std::byte> bytes;
  std::vector<std::byte> check;  // datum
  bool has_checksum = false;     // and it is right
};

core::Result<Copy> read_copy(const core::ImageSource& image, core::ByteRange volume, u64 offset) {
  const u64 at = volume.offset + std::min(offset, volume.length);
  const auto read = [&](std::vector<std::byte>& bytes, u64 size) -> core::Result<core::Done> {
    if (offset > volume.length || size > volume.length - offset)
      return core::fail({Fault::out_of_bounds, at, metadata_name, "offset", volume.length, offset});
    bytes.resize(size);
    return image.read_at(at, bytes);
  };
  Copy copy;
  copy.offset = offset;
  COLDTRACE_TRY(read(copy.bytes, heads_size));
  const auto head = core::Fields<heads_size>::at(copy.bytes, 0);
  constexpr u64 signature = 0x2D53462D4556462DU;  // "-FVE-FS-"
  if (head->get<u64, 0>() != signature)
    return core::fail({Fault::missing, at, metadata_name, "signature", 0, 0});
  copy.version = head->get<u16, 10>();
  if (copy.version != 1 && copy.version != 2)
    return core::fail({Fault::unsupported, at + 10, metadata_name, "version", 2, copy.version});
  const u64 size = u64{head->get<u16, 8>()} << (copy.version == 1 ? 0U : 4U);
  if (size < heads_size)
    return core::fail({Fault::bad_value, at + 8, metadata_name, "size", heads_size, size});
  COLDTRACE_TRY(read(copy.bytes, size + check_size));
  const auto stated = core::load<u32>(copy.bytes, size + 4);
  copy.bytes.resize(size);
  copy.has_checksum = core::crc32(copy.bytes) == stated;
  std::vector<std::byte> behind;
  constexpr u64 longest_check = 256;
  if (read(behind, size + check_size + longest_check))
    copy.check.assign(behind.begin() + static_cast<std::ptrdiff_t>(size + check_size),
                      behind.end());
  return copy;
}

// The first copy with the right checksum; without any the first that can be read.
core::Result<Copy> choose_copy(const core::ImageSource& image, core::ByteRange volume,
                               const FirstSector& first, core::Findings& findings) {
  std::optional<Copy> chosen;
  std::optional<core::ParseError> error;
  for (std::size_t i = 0; i < first.copies.size(); ++i) {
    auto copy = read_copy(image, volume, first.copies[i]);
    const u64 at = volume.offset + std::min(first.copies[i], volume.length);
    if (!copy) {
      if (!error) error = copy.error();
      findings.warning("bitlocker-metadata", at, "copy {} of BitLocker's metadata is damaged: {}",
                       i + 1, copy.error());
      continue;
    }
    if (!copy->has_checksum)
      findings.warning("bitlocker-metadata", at,
                       "copy {} of BitLocker's metadata does not match its checksum", i + 1);
    if (!chosen || (copy->has_checksum && !chosen->has_checksum)) chosen = std::move(*copy);
  }
  if (chosen) return std::move(*chosen);
  return core::fail(error.value_or(
      core::ParseError{Fault::missing, volume.offset, metadata_name, "place", 0, 0}));
}

void read_protector(ByteView bytes, BitLockerMetadata& metadata) {
  constexpr u64 head_size = 28;
  const auto head = core::Fields<head_size>::at(bytes, 0);
  if (!head) return;
  const auto properties = bytes.subspan(head_size);
  metadata.protectors.push_back({core::to_guid(bytes),
                                 {head->get<u64, 16>()},
                                 head->get<u16, 26>(),
                                 {properties.begin(), properties.end()}});
}

void read_datums(ByteView bytes, BitLockerMetadata& metadata) {
  for_each_datum(bytes, [&](const Datum& datum) {
    if (datum.role == Datum::Role::master_key && datum.type == Datum::Type::master_key)
      read_protector(datum.bytes, metadata);
    if (datum.role == Datum::Role::volume_key && datum.type == Datum::Type::encrypted_key &&
        metadata.volume_key.empty())
      metadata.volume_key.assign(datum.bytes.begin(), datum.bytes.end());
    if (datum.role == Datum::Role::description && datum.type == Datum::Type::text)
      metadata.description = core::decode_utf16(core::until_nul_unit(datum.bytes)).utf8;
    if (datum.type == Datum::Type::range && metadata.header.length == 0)
      metadata.header = {core::load<u64>(datum.bytes, 0).value_or(0),
                         core::load<u64>(datum.bytes, 8).value_or(0)};
  });
}

// Where Windows shows zeros: its own metadata, and the sectors that are kept elsewhere.
void add_zeros(const std::array<u64, 3>& copies, u64 cluster_size, u64 dirty_size,
               BitLockerMetadata& metadata) {
  const u64 unit = metadata.version == 1 ? std::max<u64>(cluster_size, 1) : metadata.sector_size;
  const u64 room = ((metadata.version == 1 ? 0x4000 : copy_room) + unit - 1) / unit * unit;
  for (const auto copy : copies) metadata.zeros.push_back({copy, room});
  if (metadata.version != 1) metadata.zeros.push_back(metadata.header);
  if (metadata.state == BitLockerMetadata::state_dirty && dirty_size != 0)
    metadata.zeros.push_back({metadata.encrypted_end, dirty_size});
}

void tell_conversion(const BitLockerMetadata& metadata, u64 dirty_size, core::Findings& findings) {
  const auto at = metadata.volume.offset;
  if (metadata.state == BitLockerMetadata::state_dirty && dirty_size != 0)
    findings.warning(
        "bitlocker-conversion", at + metadata.encrypted_end,
        "its encryption was interrupted while {} bytes were being moved; they are read as zeros",
        dirty_size);
  if (metadata.decrypted())
    findings.info("bitlocker-conversion", at, "the volume is prepared for BitLocker or decrypted");
  else if (metadata.encrypted_end != 0 && metadata.state != BitLockerMetadata::state_encrypted)
    findings.info("bitlocker-conversion", at, "the volume is partly encrypted: {} of its {} bytes",
                  metadata.encrypted_end, metadata.volume.length);
}

}  // namespace

core::Result<BitLockerMetadata> read_bitlocker_metadata(const core::ImageSource& image,
                                                        core::ByteRange volume,
                                                        core::Findings& findings) {
  std::array<std::byte, 512> sector{};
  COLDTRACE_TRY(image.read_at(volume.offset, sector));
  const auto first = read_first_sector(sector);
  if (first.sector_size != 512 && first.sector_size != 4096)
    return core::fail({Fault::bad_value, volume.offset + 11, metadata_name, "sector size", 512,
                       first.sector_size});
  core::Findings of_copies;
  const auto copy = COLDTRACE_TRY(choose_copy(image, volume, first, of_copies));
  const u64 at = volume.offset + copy.offset;
  const auto head = core::Fields<heads_size>::at(copy.bytes, 0);
  BitLockerMetadata metadata;
  metadata.volume = volume;
  metadata.to_go = first.to_go;
  metadata.version = copy.version;
  metadata.sector_size = first.sector_size;
  metadata.state = head->get<u16, 12>();
  metadata.encrypted_end = head->get<u64, 16>();
  metadata.id = core::to_guid(head->bytes<0x50, 16>());
  metadata.method = head->get<u16, 0x64>();
  metadata.created = {head->get<u64, 0x68>()};
  const u64 size = head->get<u32, 0x40>();
  const u64 datums = head->get<u32, 0x48>();
  if (datums > size || size > copy.bytes.size() - 0x40)
    return core::fail({Fault::out_of_bounds, at + 0x40, metadata_name, "datums",
                       copy.bytes.size() - 0x40, std::max(size, datums)});
  read_datums(ByteView{copy.bytes}.subspan(0x40 + datums, size - datums), metadata);
  metadata.check = copy.check;
  sha256_ctx hash;
  sha256_init(&hash);
  sha256_update(&hash, copy.bytes.size(), nettle_bytes(copy.bytes.data()));
  sha256_digest(&hash, metadata.hash.size(), nettle_bytes(metadata.hash.data()));

  const u64 kept_sectors = head->get<u32, 0x1C>();
  if (metadata.version == 1) {
    metadata.mft_mirror = head->get<u64, 0x38>();
    metadata.header = {};
  } else if (kept_sectors != 0) {
    metadata.header = {head->get<u64, 0x38>(), kept_sectors * metadata.sector_size};
  }
  if (metadata.header.length % metadata.sector_size != 0 ||
      metadata.header.offset % metadata.sector_size != 0 ||
      metadata.header.length > volume.length ||
      metadata.header.offset > volume.length - metadata.header.length)
    return core::fail({Fault::out_of_bounds, at + 0x38, metadata_name, "first sectors",
                       volume.length, metadata.header.offset});
  findings.merge(of_copies);
  const u64 dirty_size = head->get<u32, 0x18>();
  add_zeros({head->get<u64, 0x20>(), head->get<u64, 0x28>(), head->get<u64, 0x30>()},
            first.cluster_size, dirty_size, metadata);
  tell_conversion(metadata, dirty_size, findings);
  if (!first.bitmaps.empty()) read_conversion_bitmaps(image, first.bitmaps, metadata, findings);
  return metadata;
}

}  // namespace coldtrace::ntfs
