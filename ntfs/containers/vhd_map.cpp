#include <algorithm>
#include <array>

#include "coldtrace/core/file.hpp"
#include "ntfs/containers/container_headers.hpp"
#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/stored_numbers.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using Where = MappedBytes::Where;

constexpr core::Name vhd_image = "VHD image";
constexpr u64 vhd_sector = 512;

// Source: Microsoft, "Virtual Hard Disk Image Format Specification" 1.0: "Hard Disk Footer
// Format", "Dynamic Disk Header Format", "Block Allocation Table and Data Blocks".
struct VhdHeader {
  u64 table_offset = 0;
  u32 table_count = 0;
  u32 block_size = 0;
};

enum class VhdType : u32 { dynamic = 3, differencing = 4 };

core::Result<VhdType> read_type(const core::ImageSource& file) {
  return VhdType{COLDTRACE_TRY(load_big_u32(file, 60))};
}

// The copy at the start counts where the footer is lost.
bool lacks_footer(const core::ImageSource& file) {
  return is_sound_vhd_footer(file, 0) && !is_sound_vhd_footer(file, file.size() - vhd_sector);
}

core::Result<VhdHeader> read_vhd_header(const core::ImageSource& file) {
  const u64 place = COLDTRACE_TRY(load_big_u64(file, 16));
  if (place >= file.size())
    return core::fail({Fault::out_of_bounds, 16, vhd_image, "data offset", file.size(), place});
  VhdHeader header;
  header.table_offset = COLDTRACE_TRY(load_big_u64(file, place + 16));
  header.table_count = COLDTRACE_TRY(load_big_u32(file, place + 28));
  header.block_size = COLDTRACE_TRY(load_big_u32(file, place + 32));
  if (header.table_offset >= file.size() || header.block_size == 0 ||
      header.block_size % vhd_sector != 0)
    return core::fail({Fault::bad_value, place, vhd_image, "block size", core::not_one_number,
                       header.block_size});
  return header;
}

class VhdMap final : public DiskMap {
 public:
  VhdMap(std::unique_ptr<core::FileImage> file, const VhdHeader& header, VhdType type)
      : file_{std::move(file)}, header_{header}, type_{type} {}

  core::Result<MappedBytes> find(u64 offset) const override {
    constexpr u32 absent = ~u32{0};
    const u64 block = offset / header_.block_size;
    const u64 inside = offset % header_.block_size;
    if (block >= header_.table_count)
      return core::fail({Fault::out_of_bounds, header_.table_offset, vhd_image, "block",
                         header_.table_count, block});
    const u64 entry =
        COLDTRACE_TRY(load_big_u32(*file_, header_.table_offset + block * sizeof(u32)));
    if (entry == absent) return MappedBytes{Where::parent, header_.block_size - inside, nullptr, 0};
    const u64 bitmap = entry * vhd_sector;
    // What a bitmap says of a block without a parent, QEMU and libvhdi do not look at: a sector
    // that was never written is zeros there.
    if (type_ == VhdType::dynamic)
      return MappedBytes{Where::file, header_.block_size - inside, file_.get(),
                         bitmap + bitmap_size() + inside};
    const auto run = COLDTRACE_TRY(find_run(bitmap, inside / vhd_sector));
    const u64 length = run.sectors * vhd_sector - inside % vhd_sector;
    if (!run.is_there) return MappedBytes{Where::parent, length, nullptr, 0};
    return MappedBytes{Where::file, length, file_.get(), bitmap + bitmap_size() + inside};
  }

 private:
  struct Run {
    bool is_there;
    u64 sectors;
  };

  u64 sectors() const { return header_.block_size / vhd_sector; }
  // A bit for each sector of the block, in whole sectors.
  u64 bitmap_size() const {
    return (sectors() + 8 * vhd_sector - 1) / (8 * vhd_sector) * vhd_sector;
  }

  // From a sector on, those of its block that have the same bit; the first is the highest of a
  // byte.
  core::Result<Run> find_run(u64 bitmap, u64 first) const {
    std::array<std::byte, 64> bytes{};
    const u64 from = first / 8;
    const auto count = std::min<u64>(bytes.size(), bitmap_size() - from);
    COLDTRACE_TRY(file_->read_at(bitmap + from, std::span{bytes}.first(count)));
    const auto bit = [&](u64 number) {
      return (bytes[number / 8 - from] & (std::byte{0x80} >> (number % 8))) != std::byte{0};
    };
    const u64 end = std::min((from + count) * 8, sectors());
    u64 next = first + 1;
    while (next < end && bit(next) == bit(first)) ++next;
    return Run{bit(first), next - first};
  }

  std::unique_ptr<core::FileImage> file_;
  VhdHeader header_;
  VhdType type_;
};

}  // namespace

OpenedMap open_vhd_map(const std::string& path) {
  auto file = core::FileImage::open(path);
  if (!file) return OpenedMap::refused("it cannot be opened");
  const auto type = read_type(**file);
  const bool is_child = type && *type == VhdType::differencing;
  const bool is_cut = type && *type == VhdType::dynamic && lacks_footer(**file);
  if (!is_child && !is_cut) return {};
  const auto header = read_vhd_header(**file);
  if (!header) return OpenedMap::refused("its header is damaged: " + to_string(header.error()));
  OpenedMap opened;
  if (is_cut) {
    const auto size = load_big_u64(**file, 48);
    if (!size || *size > header->table_count * u64{header->block_size})
      return OpenedMap::refused("its header is damaged: the disk is larger than its table");
    opened.size = *size;
  }
  opened.map = std::make_unique<VhdMap>(std::move(*file), *header, *type);
  opened.needs_parent = is_child;
  return opened;
}

}  // namespace coldtrace::ntfs
