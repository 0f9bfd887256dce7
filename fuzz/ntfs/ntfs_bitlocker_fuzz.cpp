#include <algorithm>
#include <cstdint>
#include <cstring>

#include <nettle/ccm.h>

#include "coldtrace/core/checksums.hpp"
#include "coldtrace/ntfs/bitlocker/bitlocker_image.hpp"
#include "coldtrace/ntfs/bitlocker/read_bitlocker.hpp"
#include "fuzz/ntfs/read_twice.hpp"
#include "ntfs/bitlocker/nettle_bytes.hpp"

using namespace coldtrace;
using ntfs::nettle_bytes;

namespace {

constexpr u64 volume_offset = 512;
constexpr u64 volume_size = 0x20000;
constexpr u64 copies = 0x8000;  // three, one behind the other
constexpr u64 copy_room = 0x1000;
constexpr u64 copy_size = 0x200;
constexpr u64 bitmap_lists = 0x10000;
constexpr u64 bitmap = 0x12000;
constexpr u64 kept = 0x18000;

using Bytes = std::vector<std::byte>;
using Key = std::array<std::byte, CCM_BLOCK_SIZE * 2>;

template <class T>
void append(Bytes& bytes, T value) {
  const auto view = std::as_bytes(std::span{&value, 1});
  bytes.insert(bytes.end(), view.begin(), view.end());
}

Bytes datum(u16 role, u16 type, core::ByteView content) {
  Bytes bytes;
  append(bytes, static_cast<u16>(8 + content.size()));
  append(bytes, role);
  append(bytes, type);
  append(bytes, u16{1});
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes key_datum(u32 method, core::ByteView key) {
  Bytes content;
  append(content, method);
  content.insert(content.end(), key.begin(), key.end());
  return datum(0, 1, content);
}

Bytes sealed_datum(u16 role, const Key& key, core::ByteView text) {
  ccm_aes256_ctx context;
  ccm_aes256_set_key(&context, nettle_bytes(key.data()));
  Bytes content(12 + CCM_DIGEST_SIZE + text.size());
  Bytes out(text.size() + CCM_DIGEST_SIZE);
  ccm_aes256_encrypt_message(&context, 12, nettle_bytes(content.data()), 0, nullptr,
                             CCM_DIGEST_SIZE, out.size(), nettle_bytes(out.data()),
                             nettle_bytes(text.data()));
  const auto code = out.begin() + static_cast<std::ptrdiff_t>(text.size());
  std::copy(code, out.end(), content.begin() + 12);
  std::copy(out.begin(), code, content.begin() + 12 + CCM_DIGEST_SIZE);
  return datum(role, 5, content);
}

// A volume with a clear key and three copies of its metadata, and a bitmap of what is encrypted.
class Base {
 public:
  Base() : bytes(volume_offset + volume_size) {
    put(3, "-FVE-FS-", 8);
    put(11, u16{512});
    put(13, u8{8});
    constexpr auto id = core::parse_guid("92a84d3b-dd80-4d0e-9e4e-b1e3284eaed8");
    put(0xA0, id->bytes.data(), id->bytes.size());
    for (u64 i = 0; i < 3; ++i) put(0xB0 + 8 * i, copies + i * copy_room);
    for (u64 i = 0; i < 2; ++i) put(0xC8 + 8 * i, bitmap_lists + i * 0x200);
    const Key master{}, clear{std::byte{1}};
    Bytes protector(28);
    for (const auto& part :
         {key_datum(0x2000, clear), sealed_datum(0, clear, key_datum(0x2003, master))})
      protector.insert(protector.end(), part.begin(), part.end());
    Bytes datums = datum(2, 8, protector);
    const Bytes of_sectors(64);
    for (const auto& part : {sealed_datum(3, master, key_datum(0x8000, of_sectors)),
                             datum(7, 2, Bytes(8, std::byte{'x'}))})
      datums.insert(datums.end(), part.begin(), part.end());
    for (u64 i = 0; i < 3; ++i) put_copy(copies + i * copy_room, datums);
    put(bitmap, "FVE-EOWBM\0", 10);
    put(bitmap + 28, volume_size);
    put(bitmap + 44, u64{0x200} | u64{0x400} << 32);
    for (u64 i = 0; i < 2; ++i) {
      const u64 list = bitmap_lists + i * 0x200, record = bitmap + 0x200 * (i + 1);
      put(list, "FVE-EOW\0", 8);
      put(list + 8, u32{0x38} | u32{0x48} << 16);
      put(list + 0x14, u32{0x2000});
      put(list + 0x38, bitmap);
      put(list + 0x40, bitmap);
      put(record, "FVE-EOWBR\0", 10);
      put(record + 12, u32{0x40});
      put(record + 16, u32{16});
      put(record + 20, i);
      put(record + 36, u16{0x3C5A});
    }
  }

  Bytes bytes;

 private:
  void put(u64 at, const void* data, std::size_t size) {
    std::memcpy(bytes.data() + volume_offset + at, data, size);
  }
  template <class T>
  void put(u64 at, T value) {
    put(at, &value, sizeof(value));
  }
  void put_copy(u64 at, const Bytes& datums) {
    put(at, "-FVE-FS-", 8);
    put(at + 8, u32{copy_size / 16} | u32{2} << 16);
    put(at + 12, u32{4 | 4U << 16});
    put(at + 16, volume_size);
    put(at + 0x1C, u32{16});
    for (u64 i = 0; i < 3; ++i) put(at + 0x20 + 8 * i, copies + i * copy_room);
    put(at + 0x38, kept);
    put(at + 0x40, static_cast<u32>(48 + datums.size()));
    put(at + 0x48, u32{48});
    put(at + 0x64, u32{0x8000});
    put(at + 0x70, datums.data(), datums.size());
  }
};

// Changes of the volume: a number of bytes, the place and the bytes.
void patch(Bytes& bytes, core::ByteView changes) {
  for (u64 at = 0; at + 4 <= changes.size();) {
    const auto byte = [&](u64 i) { return std::to_integer<u64>(changes[at + i]); };
    const u64 place = volume_offset + (byte(1) | byte(2) << 8 | byte(3) << 16) % volume_size;
    const u64 count = std::min({byte(0) % 32 + 1, changes.size() - at - 4, bytes.size() - place});
    std::copy_n(changes.begin() + static_cast<std::ptrdiff_t>(at + 4), count,
                bytes.begin() + static_cast<std::ptrdiff_t>(place));
    at += 4 + count;
  }
}

void put_sum(Bytes& bytes, u64 start, u64 size, u64 place) {
  start += volume_offset;
  if (size > bytes.size() || start > bytes.size() - size || place + 4 > size) return;
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(start + place), 4, std::byte{0});
  const auto sum = core::crc32(core::ByteView{bytes}.subspan(start, size));
  std::memcpy(bytes.data() + start + place, &sum, sizeof(sum));
}

// The checksums of what was changed, but for the first copy of each.
void put_sums(Bytes& bytes) {
  for (u64 i = 0; i < 3; ++i) {
    const u64 at = volume_offset + copies + i * copy_room;
    const u64 size = u64{core::load<u16>(bytes, at + 8).value_or(0)} * 16;
    if (at + size + 8 > bytes.size()) continue;
    const auto sum = core::crc32(core::ByteView{bytes}.subspan(at, size));
    std::memcpy(bytes.data() + at + size + 4, &sum, sizeof(sum));
  }
  const auto load = [&](auto kind, u64 at) {
    return core::load<decltype(kind)>(bytes, volume_offset + at).value_or(0);
  };
  for (u64 i = 0; i < 2; ++i) {
    const u64 list = bitmap_lists + i * 0x200, record = bitmap + 0x200 * (i + 1);
    put_sum(bytes, list, load(u16{}, list + 10), 0x24);
    put_sum(bytes, record, load(u32{}, record + 12), 32);
  }
}

// Sectors of each kind: those kept elsewhere and those that the bitmap has, both ends of the
// metadata, and the last one.
void read(const core::ImageSource& image) {
  constexpr u64 windows[][2] = {{0, 0x4400},
                                {0x7C00, 0x8600},
                                {0x19E00, 0x1A600},
                                {volume_size, volume_offset + volume_size}};
  for (const auto& [begin, end] : windows)
    if (end <= image.size()) static_cast<void>(fuzz::read_twice(image, begin, end, 1234));
}

class Memory final : public core::ImageSource {
 public:
  explicit Memory(Bytes bytes) : bytes_{std::move(bytes)} {}
  u64 size() const override { return bytes_.size(); }
  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    return core::MemoryImage{bytes_}.read_at(offset, destination);
  }

 private:
  Bytes bytes_;
};

}  // namespace

// A BitLocker volume of which any bytes are changed: where it opens it reads to its end. The first
// byte says whether checksums are those of the changed bytes; a rest that is a startup key is one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Base base;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span{data, size});
  (void)ntfs::bitlocker_startup_key(input.subspan(1));
  (void)ntfs::bitlocker_recovery_password(
      {reinterpret_cast<const char*>(data) + 1, std::min<std::size_t>(size - 1, 200)});
  auto bytes = base.bytes;
  patch(bytes, input.subspan(1));
  if ((data[0] & 1U) == 0) put_sums(bytes);
  std::unique_ptr<core::ImageSource> image = std::make_unique<Memory>(std::move(bytes));
  core::Findings findings;
  const auto metadata =
      ntfs::read_bitlocker_metadata(*image, {volume_offset, volume_size}, findings);
  if (!metadata) return 0;
  for (const auto& protector : metadata->protectors) (void)ntfs::protector_name(protector.kind);
  const auto key = ntfs::open_bitlocker(*metadata, {}, findings);
  if (const auto opened = ntfs::open_bitlocker_image(image, *metadata, key ? &*key : nullptr))
    read(*opened);
  return 0;
}
