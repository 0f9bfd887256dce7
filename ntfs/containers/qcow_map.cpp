#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "coldtrace/core/file.hpp"
#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/stored_numbers.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using Where = MappedBytes::Where;

constexpr core::Name qcow_image = "QCOW2 image";

// Source: QEMU, docs/interop/qcow2.txt, "Header" and "Cluster mapping".
constexpr u64 offset_bits = 0x00ff'ffff'ffff'fe00;
constexpr u64 packed_bit = u64{1} << 62;
constexpr u64 zeros_bit = 1;  // of version 3
constexpr u32 fewest_cluster_bits = 9;
constexpr u32 most_cluster_bits = 21;

struct QcowHeader {
  u32 version = 0;
  u64 parent_offset = 0;
  u32 parent_length = 0;
  u32 cluster_bits = 0;
  u64 disk_size = 0;
  u32 encryption = 0;
  u32 table_count = 0;
  u64 table_offset = 0;
  u64 features = 0;
  u8 packing = 0;
  std::string parent_format;  // empty where it is not stated
};

// Source: QEMU, docs/interop/qcow2.txt, "Header extensions". They lie in the first cluster, before
// the name of the backing file.
core::Result<std::string> read_parent_format(const core::ImageSource& file, u64 at, u64 end) {
  constexpr u32 backing_format = 0xe279'2aca;
  constexpr u32 longest = 64;
  while (end - at >= 2 * sizeof(u32)) {
    const u32 type = COLDTRACE_TRY(load_big_u32(file, at));
    const u64 length = COLDTRACE_TRY(load_big_u32(file, at + sizeof(u32)));
    at += 2 * sizeof(u32);
    if (type == 0 || length > end - at) break;
    if (type == backing_format) {
      std::string format(std::min<u64>(length, longest), '\0');
      COLDTRACE_TRY(file.read_at(at, std::as_writable_bytes(std::span{format})));
      return format;
    }
    at = std::min(end, at + (length + 7) / 8 * 8);
  }
  return std::string{};
}

core::Result<QcowHeader> read_qcow_header(const core::ImageSource& file) {
  constexpr u64 shortest = 72;
  constexpr u64 with_packing = 105;
  QcowHeader header;
  header.version = COLDTRACE_TRY(load_big_u32(file, 4));
  header.parent_offset = COLDTRACE_TRY(load_big_u64(file, 8));
  header.parent_length = COLDTRACE_TRY(load_big_u32(file, 16));
  header.cluster_bits = COLDTRACE_TRY(load_big_u32(file, 20));
  header.disk_size = COLDTRACE_TRY(load_big_u64(file, 24));
  header.encryption = COLDTRACE_TRY(load_big_u32(file, 32));
  header.table_count = COLDTRACE_TRY(load_big_u32(file, 36));
  header.table_offset = COLDTRACE_TRY(load_big_u64(file, 40));
  const auto read_format = [&](u64 start) -> core::Result<core::Done> {
    const u64 cluster = u64{1} << std::min(header.cluster_bits, 21U);
    const u64 end = std::min({cluster, file.size(), std::max(start, header.parent_offset)});
    if (header.parent_offset != 0 && start < end)
      header.parent_format = COLDTRACE_TRY(read_parent_format(file, start, end));
    return core::Done{};
  };
  if (header.version == 2) COLDTRACE_TRY(read_format(shortest));
  if (header.version < 3) return header;
  header.features = COLDTRACE_TRY(load_big_u64(file, shortest));
  const u32 length = COLDTRACE_TRY(load_big_u32(file, 100));
  COLDTRACE_TRY(read_format(length));
  if (length < with_packing) return header;
  header.packing = static_cast<u8>(COLDTRACE_TRY(load_big_u32(file, with_packing - 1)) >> 24U);
  return header;
}

// A disk is no larger than its tables can say of: whoever reads it goes by its size.
std::string refuse_tables(const QcowHeader& header, u64 file_size) {
  const u64 cluster = u64{1} << header.cluster_bits;
  const u64 of_table = cluster / sizeof(u64) * cluster;  // bytes of the disk
  const u64 needed = header.disk_size / of_table + (header.disk_size % of_table != 0 ? 1 : 0);
  if (header.table_offset >= file_size)
    return fmt::format("its table of clusters is at {:#x}, beyond its end", header.table_offset);
  if (header.table_count > (file_size - header.table_offset) / sizeof(u64))
    return fmt::format("its table of clusters, at {:#x}, extends beyond its end",
                       header.table_offset);
  if (needed > header.table_count)
    return fmt::format("it states a disk of {} bytes, but its tables cover {} times {} bytes",
                       header.disk_size, header.table_count, of_table);
  return {};
}

std::string refuse_qcow(const QcowHeader& header, u64 file_size) {
  constexpr u64 known_features = 0b1'1111;
  constexpr u64 data_file = 1U << 2U;
  constexpr u64 parts_of_clusters = 1U << 4U;
  constexpr u8 zstandard = 1;
  if (header.version < 2)
    return header.parent_offset == 0
               ? std::string{}
               : "it is of version 1 and has a backing file, which only 'qemu-img convert' reads";
  if (header.version > 3) return fmt::format("it is of version {}", header.version);
  if (header.encryption != 0)
    return "it is encrypted by QEMU; 'qemu-img convert' with its secret decrypts it";
  if ((header.features & data_file) != 0) return "its data is in another file (data_file)";
  if ((header.features & parts_of_clusters) != 0)
    return "it has extended L2 entries, which only 'qemu-img convert' reads";
  if (header.packing != 0)
    return fmt::format(
        "its clusters are compressed by method {}{}, which only 'qemu-img convert' reads",
        header.packing, header.packing == zstandard ? " (zstd)" : "");
  if ((header.features & ~known_features) != 0)
    return fmt::format("it has incompatible features {:#x}", header.features & ~known_features);
  if (header.cluster_bits < fewest_cluster_bits || header.cluster_bits > most_cluster_bits)
    return fmt::format("its clusters would have 2^{} bytes", header.cluster_bits);
  return refuse_tables(header, file_size);
}

// zlib's pointers are to unsigned char.
Bytef* zlib_pointer(std::vector<std::byte>& bytes) {
  return static_cast<Bytef*>(static_cast<void*>(bytes.data()));
}

// Deflate without a header, of a window of 4 KiB. Behind it are what fills its last sector, and
// other clusters. Nothing where the bytes give less than a cluster.
std::optional<std::vector<std::byte>> unpack_cluster(std::vector<std::byte>& packed, u64 size) {
  constexpr int window_bits = -12;
  std::vector<std::byte> bytes(size);
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) return std::nullopt;
  stream.next_in = zlib_pointer(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = zlib_pointer(bytes);
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int state = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if ((state != Z_STREAM_END && state != Z_BUF_ERROR) || stream.avail_out != 0) return std::nullopt;
  return bytes;
}

// For one thread: it keeps the compressed cluster that was asked for last.
class QcowMap final : public DiskMap {
 public:
  QcowMap(std::unique_ptr<core::FileImage> file, const QcowHeader& header)
      : file_{std::move(file)}, header_{header}, size_{u64{1} << header.cluster_bits} {}

  core::Result<MappedBytes> find(u64 offset) const override {
    const u64 inside = offset % size_;
    MappedBytes found{Where::parent, size_ - inside, nullptr, 0};
    const u64 entry = COLDTRACE_TRY(find_entry(offset / size_));
    if ((entry & packed_bit) != 0) {
      COLDTRACE_TRY(unpack(entry));
      found = {Where::file, found.length, &*unpacked_image_, inside};
    } else if (header_.version > 2 && (entry & zeros_bit) != 0) {
      found.where = Where::zeros;
    } else if (const u64 place = COLDTRACE_TRY(check_place(entry)); place != 0) {
      found = {Where::file, found.length, file_.get(), place + inside};
    }
    return found;
  }

 private:
  // Of the table that has the cluster; 0 where there is none.
  core::Result<u64> find_entry(u64 cluster) const {
    const u64 count = size_ / sizeof(u64);
    const u64 index = cluster / count;
    if (index >= header_.table_count)
      return core::fail({Fault::out_of_bounds, header_.table_offset, qcow_image, "L1 entry",
                         header_.table_count, index});
    const u64 stored =
        COLDTRACE_TRY(load_big_u64(*file_, header_.table_offset + index * sizeof(u64)));
    const u64 table = COLDTRACE_TRY(check_place(stored));
    if (table == 0) return u64{0};
    return load_big_u64(*file_, table + cluster % count * sizeof(u64));
  }

  core::Result<u64> check_place(u64 entry) const {
    const u64 place = entry & offset_bits;
    if (place % size_ != 0 || (place != 0 && place >= file_->size()))
      return core::fail({Fault::bad_value, place, qcow_image, "cluster", file_->size(), place});
    return place;
  }

  // An entry has where the bytes are, and of how many sectors after their first one.
  core::Result<core::Done> unpack(u64 entry) const {
    if (unpacked_image_ && entry == unpacked_entry_) return core::Done{};
    constexpr u64 sector = 512;
    const u32 place_bits = 70 - header_.cluster_bits;
    const u64 place = entry & ((u64{1} << place_bits) - 1);
    const u64 sectors = 1 + ((entry & (packed_bit - 1)) >> place_bits);
    if (place >= file_->size())
      return core::fail({Fault::missing, place, qcow_image, "compressed cluster", 0, 0});
    // The last one need not fill its sector.
    const u64 length = std::min(sectors * sector - place % sector, file_->size() - place);
    std::vector<std::byte> packed(length);
    COLDTRACE_TRY(file_->read_at(place, packed));
    auto bytes = unpack_cluster(packed, size_);
    if (!bytes)
      return core::fail({Fault::bad_value, place, qcow_image, "compressed cluster",
                         core::not_one_number, length});
    unpacked_image_.reset();
    unpacked_ = std::move(*bytes);
    unpacked_image_.emplace(core::ByteView{unpacked_});
    unpacked_entry_ = entry;
    return core::Done{};
  }

  std::unique_ptr<core::FileImage> file_;
  QcowHeader header_;
  u64 size_;  // of a cluster
  mutable u64 unpacked_entry_ = 0;
  mutable std::vector<std::byte> unpacked_;
  mutable std::optional<core::MemoryImage> unpacked_image_;
};

// Whether a table of the second level has clusters, and all of them in the file.
core::Result<bool> is_sound_table(const core::ImageSource& file, const QcowHeader& header,
                                  u64 table) {
  constexpr u64 extended = 1U << 4U;
  const u64 size = u64{1} << header.cluster_bits;
  const u64 step = (header.features & extended) != 0 ? 2 * sizeof(u64) : sizeof(u64);
  bool used = false;
  for (u64 at = 0; at < size; at += step) {
    const u64 entry = COLDTRACE_TRY(load_big_u64(file, table + at));
    const bool packed = (entry & packed_bit) != 0;
    const u64 place = entry & (packed ? (u64{1} << (70 - header.cluster_bits)) - 1 : offset_bits);
    if (place >= file.size() || (!packed && place % size != 0)) return false;
    used = used || place != 0;
  }
  return used;
}

// The first table of the second level speaks for the others.
core::Result<bool> has_sound_tables(const core::ImageSource& file) {
  constexpr u32 most_tables = 4096;
  const auto header = COLDTRACE_TRY(read_qcow_header(file));
  if (header.version < 2 || header.version > 3 || header.cluster_bits < fewest_cluster_bits ||
      header.cluster_bits > most_cluster_bits || !refuse_tables(header, file.size()).empty())
    return false;
  const u64 size = u64{1} << header.cluster_bits;
  for (u64 i = 0; i < std::min(header.table_count, most_tables); ++i) {
    const u64 entry = COLDTRACE_TRY(load_big_u64(file, header.table_offset + i * sizeof(u64)));
    const u64 table = entry & offset_bits;
    if (table % size != 0 || table >= file.size()) return false;
    if (table != 0) return is_sound_table(file, header, table);
  }
  return false;
}

// Of version 1, whose header says how large a table is, and whose compressed clusters have the
// highest bit. Source: QEMU, block/qcow.c.
core::Result<bool> has_sound_first_version(const core::ImageSource& file) {
  constexpr u64 packed = u64{1} << 63;
  constexpr u32 most_table_bits = 13;
  constexpr u64 most_tables = 4096;
  const u64 disk_size = COLDTRACE_TRY(load_big_u64(file, 24));
  const u32 bits = COLDTRACE_TRY(load_big_u32(file, 32));
  const u64 first = COLDTRACE_TRY(load_big_u64(file, 40));
  const u32 cluster_bits = bits >> 24U;
  const u32 table_bits = bits >> 16U & 0xffU;
  if (COLDTRACE_TRY(load_big_u32(file, 4)) != 1 || cluster_bits < fewest_cluster_bits ||
      cluster_bits > most_cluster_bits || table_bits == 0 || table_bits > most_table_bits)
    return false;
  const u64 of_table = u64{1} << (cluster_bits + table_bits);
  const u64 size = u64{1} << cluster_bits;
  for (u64 i = 0; i < std::min(disk_size / of_table + 1, most_tables); ++i) {
    const u64 table = COLDTRACE_TRY(load_big_u64(file, first + i * sizeof(u64)));
    if (table == 0) continue;
    if (table % size != 0) return false;
    bool used = false;
    for (u64 each = 0; each < u64{1} << table_bits; ++each) {
      const u64 entry = COLDTRACE_TRY(load_big_u64(file, table + each * sizeof(u64)));
      const bool is_packed = (entry & packed) != 0;
      const u64 place = is_packed ? entry & ((u64{1} << (63 - cluster_bits)) - 1) : entry;
      if (place >= file.size() || (!is_packed && place % size != 0)) return false;
      used = used || entry != 0;
    }
    return used;
  }
  return false;
}

}  // namespace

bool is_sound_qcow(const core::ImageSource& file) {
  return has_sound_tables(file).value_or(false) || has_sound_first_version(file).value_or(false);
}

OpenedMap open_qcow_map(const std::string& path) {
  auto file = core::FileImage::open(path);
  if (!file) return OpenedMap::refused("it cannot be opened");
  const auto header = read_qcow_header(**file);
  if (!header) return OpenedMap::refused("its header is cut off");
  if (auto refusal = refuse_qcow(*header, (*file)->size()); !refusal.empty())
    return OpenedMap::refused(std::move(refusal));
  if (header->version < 2) return {};
  constexpr u64 corrupt = 1U << 1U;
  constexpr u32 longest_name = 1023;
  OpenedMap opened;
  opened.size = header->disk_size;
  opened.corrupt = (header->features & corrupt) != 0;
  opened.needs_parent = header->parent_offset != 0 && header->parent_length != 0;
  if (opened.needs_parent) {
    std::string name(std::min(header->parent_length, longest_name), '\0');
    if ((*file)->read_at(header->parent_offset, std::as_writable_bytes(std::span{name})))
      opened.parent = std::move(name);
  }
  opened.parent_format = header->parent_format;
  opened.map = std::make_unique<QcowMap>(std::move(*file), *header);
  return opened;
}

}  // namespace coldtrace::ntfs
