#include "ntfs/bitlocker/sector_cipher.hpp"

#include <array>
#include <bit>
#include <cstring>

#include <nettle/aes.h>
#include <nettle/cbc.h>
#include <nettle/memxor.h>
#include <nettle/nettle-meta.h>
#include <nettle/xts.h>

#include "ntfs/bitlocker/nettle_bytes.hpp"

namespace coldtrace::ntfs {
namespace {

using Block = std::array<u8, AES_BLOCK_SIZE>;

// An AES key of 128 or 256 bits, in both directions.
class AesKey {
 public:
  AesKey(core::ByteView bytes, bool is_256) : cipher_{is_256 ? nettle_aes256 : nettle_aes128} {
    const auto* const key = nettle_bytes(bytes.data());
    cipher_.set_encrypt_key(&encrypting_, key);
    cipher_.set_decrypt_key(&decrypting_, key);
  }

  const void* encrypting() const { return &encrypting_; }
  const void* decrypting() const { return &decrypting_; }
  nettle_cipher_func* encrypt() const { return cipher_.encrypt; }
  nettle_cipher_func* decrypt() const { return cipher_.decrypt; }

  Block encrypt(const Block& block) const {
    Block encrypted;
    cipher_.encrypt(encrypting(), encrypted.size(), encrypted.data(), block.data());
    return encrypted;
  }

 private:
  const nettle_cipher& cipher_;
  aes256_ctx encrypting_{};  // room for the longer one
  aes256_ctx decrypting_{};
};
static_assert(sizeof(aes256_ctx) >= sizeof(aes128_ctx));

Block block_of(u64 number) {
  Block block{};
  std::memcpy(block.data(), &number, sizeof(number));
  return block;
}

// The two diffusers that follow each other, over the words of a sector.
// Source: N. Ferguson, "AES-CBC + Elephant diffuser", 2006, 4.4 and 4.5.
void undo_diffusers(std::span<u8> sector) {
  std::array<u32, 1024> words;
  const std::size_t count = sector.size() / sizeof(u32);
  std::memcpy(words.data(), sector.data(), sector.size());
  constexpr std::array turns_b = {0, 10, 0, 25};
  for (int cycle = 0; cycle < 3; ++cycle)
    for (std::size_t i = 0; i < count; ++i)
      words[i] +=
          words[(i + 2) % count] ^ std::rotl(words[(i + 5) % count], turns_b[i % turns_b.size()]);
  constexpr std::array turns_a = {9, 0, 13, 0};
  for (int cycle = 0; cycle < 5; ++cycle)
    for (std::size_t i = 0; i < count; ++i)
      words[i] += words[(i + count - 2) % count] ^
                  std::rotl(words[(i + count - 5) % count], turns_a[i % turns_a.size()]);
  std::memcpy(sector.data(), words.data(), sector.size());
}

void xor_with_sector_key(std::span<u8> sector, u64 offset, const AesKey& tweak) {
  auto place = block_of(offset);
  std::array<u8, std::size_t{2} * AES_BLOCK_SIZE> key;
  const auto first = tweak.encrypt(place);
  place.back() = 0x80;
  const auto second = tweak.encrypt(place);
  std::memcpy(key.data(), first.data(), first.size());
  std::memcpy(key.data() + first.size(), second.data(), second.size());
  for (std::size_t at = 0; at < sector.size(); at += key.size())
    memxor(sector.data() + at, key.data(), key.size());
}

}  // namespace

struct SectorCipher::Keys {
  enum class Mode : u8 { cbc, cbc_diffuser, xts };
  Mode mode;
  AesKey data;
  AesKey tweak;  // of cbc: not used
};

SectorCipher::SectorCipher(std::unique_ptr<Keys> keys, u32 sector_size)
    : keys_{std::move(keys)}, sector_size_{sector_size} {}
SectorCipher::SectorCipher(SectorCipher&&) noexcept = default;
SectorCipher& SectorCipher::operator=(SectorCipher&&) noexcept = default;
SectorCipher::~SectorCipher() = default;

std::optional<SectorCipher> SectorCipher::create(u16 method, core::ByteView key, u32 sector_size) {
  using Mode = Keys::Mode;
  if (method < 0x8000 || method > 0x8005) return std::nullopt;
  const bool is_256 = (method & 1) != 0;
  const std::size_t size = is_256 ? AES256_KEY_SIZE : AES128_KEY_SIZE;
  const auto mode = method < 0x8002 ? Mode::cbc_diffuser : method < 0x8004 ? Mode::cbc : Mode::xts;
  // With the diffuser each of the two has the room of the longer one.
  const std::size_t tweak = mode == Mode::cbc ? 0 : mode == Mode::xts ? size : AES256_KEY_SIZE;
  if (key.size() < tweak + size) return std::nullopt;
  return SectorCipher{
      std::make_unique<Keys>(Keys{mode, {key, is_256}, {key.subspan(tweak), is_256}}), sector_size};
}

void SectorCipher::decrypt(u64 offset, std::span<std::byte> sectors) const {
  const auto& data = keys_->data;
  for (; sectors.size() >= sector_size_; sectors = sectors.subspan(sector_size_)) {
    const std::span sector{nettle_bytes(sectors.data()), sector_size_};
    if (keys_->mode == Keys::Mode::xts) {
      const auto number = block_of(offset / sector_size_);
      xts_decrypt_message(data.decrypting(), keys_->tweak.encrypting(), data.decrypt(),
                          keys_->tweak.encrypt(), number.data(), sector.size(), sector.data(),
                          sector.data());
    } else {
      auto vector = data.encrypt(block_of(offset));
      cbc_decrypt(data.decrypting(), data.decrypt(), vector.size(), vector.data(), sector.size(),
                  sector.data(), sector.data());
      if (keys_->mode == Keys::Mode::cbc_diffuser) {
        undo_diffusers(sector);
        xor_with_sector_key(sector, offset, keys_->tweak);
      }
    }
    offset += sector_size_;
  }
}

}  // namespace coldtrace::ntfs
