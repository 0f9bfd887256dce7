#include <algorithm>
#include <cstdint>
#include <cstring>

#include "coldtrace/ntfs/shadow/shadow_copies.hpp"
#include "fuzz/ntfs/read_twice.hpp"

using namespace coldtrace;

namespace {

constexpr u64 block = ntfs::shadow_block_size;
constexpr u64 blocks = 24;
constexpr u64 volume_size = blocks * block + 512;
constexpr u64 volume_offset = 512;

// A volume with two shadow copies: block 1 has the catalog, 2 to 4 and 5 to 7 header, list and
// bitmap of the stores, 8 to 15 what they keep, as there is room for it.
class Base {
 public:
  Base() : bytes(volume_offset + volume_size) {
    for (u64 i = 8; i < blocks; ++i)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(volume_offset + i * block), block,
                  static_cast<std::byte>(i));
    put_header(ntfs::shadow_header_offset, 1, 0);
    put(ntfs::shadow_header_offset + 0x30, block);
    put_header(block, 2, block);
    for (u64 store = 0; store < 2; ++store) {
      const u64 first = 2 + 3 * store;
      const u64 copy = block + 128 + 256 * store;
      put(copy, 2);
      put(copy + 8, volume_size);
      put(copy + 16, store + 1);
      put(copy + 32, store + 1);
      put(copy + 40, 0x440);
      put(copy + 128, 3);
      put(copy + 128 + 8, (first + 1) * block);
      put(copy + 128 + 16, store + 1);
      put(copy + 128 + 32, first * block);
      put(copy + 128 + 48, (first + 2) * block);
      put_header(first * block, 4, first * block);
      put_header((first + 1) * block, 3, (first + 1) * block);
      put_header((first + 2) * block, 6, (first + 2) * block);
      const u64 list = (first + 1) * block + 128;
      put_descriptor(list, 16 + store, 0, 8 + store, 0, 0);
      put_descriptor(list + 32, 18, 20 + store, 0, 1, 0);
      put_descriptor(list + 64, 19, 0, 10 + store, 2, 0xF0F0);
      put((first + 2) * block + 128, u64{1} << 22);
    }
  }

  std::vector<std::byte> bytes;

 private:
  void put(u64 at, u64 value) {
    std::memcpy(bytes.data() + volume_offset + at, &value, sizeof(value));
  }
  void put_header(u64 at, u64 type, u64 own) {
    constexpr auto guid = core::parse_guid("3808876b-c176-4e48-b7ae-04046e6cc752");
    std::memcpy(bytes.data() + volume_offset + at, guid->bytes.data(), guid->bytes.size());
    put(at + 16, 1 | type << 32);
    put(at + 24, type == 1 ? at : 0);
    put(at + 32, own);
  }
  void put_descriptor(u64 at, u64 original, u64 relative, u64 stored, u64 flags, u64 sectors) {
    put(at, original * block);
    put(at + 8, relative * block);
    put(at + 16, stored * block);
    put(at + 24, flags | sectors << 32);
  }
};

// Changes of the volume: a number of bytes, the block and the byte of it, and the bytes.
void patch(std::vector<std::byte>& bytes, core::ByteView changes) {
  for (u64 at = 0; at + 4 <= changes.size();) {
    const auto byte = [&](u64 i) { return std::to_integer<u64>(changes[at + i]); };
    const u64 place = volume_offset + byte(1) % blocks * block + (byte(2) | byte(3) << 8) % block;
    const u64 count = std::min({byte(0) % 32 + 1, changes.size() - at - 4, bytes.size() - place});
    std::copy_n(changes.begin() + static_cast<std::ptrdiff_t>(at + 4), count,
                bytes.begin() + static_cast<std::ptrdiff_t>(place));
    at += 4 + count;
  }
}

void read(const core::ImageSource& copy) {
  if (copy.size() < volume_offset + volume_size) __builtin_trap();
  const auto done = fuzz::read_twice(copy, 0, volume_offset + volume_size, 5000);
  if (done.pieces != done.whole.has_value()) __builtin_trap();
  std::byte one{};
  if (copy.read_at(copy.size(), {&one, 1})) __builtin_trap();
}

}  // namespace

// A volume with shadow copies, of which any bytes are changed: each copy reads to its end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Base base;
  static auto bytes = base.bytes;
  bytes = base.bytes;
  patch(bytes, std::as_bytes(std::span{data, size}));
  const core::MemoryImage image{bytes};
  core::Findings findings;
  auto shadows = ntfs::ShadowCopies::read(image, {volume_offset, volume_size}, findings);
  if (!shadows) return 0;
  if (shadows->copies().size() > ntfs::most_shadow_copies) __builtin_trap();
  for (const auto& copy : shadows->copies()) {
    if (copy.store) (void)ntfs::shadow_attribute_names(copy.store->attributes);
    if (const auto opened = shadows->open(copy.number, findings)) read(**opened);
  }
  return 0;
}
