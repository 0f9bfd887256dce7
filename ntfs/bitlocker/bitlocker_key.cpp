#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

#include <algorithm>
#include <cstring>

#include <nettle/ccm.h>
#include <nettle/sha2.h>

#include "coldtrace/core/utf16.hpp"
#include "ntfs/bitlocker/datums.hpp"
#include "ntfs/bitlocker/nettle_bytes.hpp"

namespace coldtrace::ntfs {
namespace {

using core::ByteView;
using Hash = std::array<std::byte, SHA256_DIGEST_SIZE>;

Hash hash_of(ByteView bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), nettle_bytes(bytes.data()));
  Hash hash;
  sha256_digest(&context, hash.size(), nettle_bytes(hash.data()));
  return hash;
}

// The hash of the hash, the key and the salt, and of how often it was done, a million times.
Hash stretch(const Hash& key, ByteView salt) {
  struct Round {
    Hash last;
    Hash key;
    std::array<std::byte, 16> salt;
    u64 count;
  };
  static_assert(sizeof(Round) == 88);
  Round round{{}, key, {}, 0};
  std::memcpy(round.salt.data(), salt.data(), round.salt.size());
  for (; round.count < 0x100000; ++round.count)
    round.last = hash_of(std::as_bytes(std::span{&round, 1}));
  return round.last;
}

// What is encrypted with AES-CCM: a nonce of 12 bytes, the authentication code of 16, the rest.
// Nothing where the code does not fit, as with another key.
std::optional<std::vector<std::byte>> unseal(ByteView key, ByteView sealed) {
  constexpr std::size_t nonce = 12;
  constexpr std::size_t code = CCM_DIGEST_SIZE;
  if (key.size() != AES256_KEY_SIZE || sealed.size() <= nonce + code) return std::nullopt;
  // nettle has the code behind.
  std::vector<std::byte> text(sealed.begin() + nonce + code, sealed.end());
  text.insert(text.end(), sealed.begin() + nonce, sealed.begin() + nonce + code);
  ccm_aes256_ctx context;
  ccm_aes256_set_key(&context, nettle_bytes(key.data()));
  std::vector<std::byte> opened(text.size() - code);
  if (ccm_aes256_decrypt_message(&context, nonce, nettle_bytes(sealed.data()), 0, nullptr, code,
                                 opened.size(), nettle_bytes(opened.data()),
                                 nettle_bytes(text.data())) != 1)
    return std::nullopt;
  return opened;
}

// A key among datums: what it is for, and its bytes.
struct KeyBytes {
  u16 method;
  ByteView bytes;
};

std::optional<KeyBytes> find_key(ByteView datums) {
  const auto key = find_datum(datums, Datum::Type::key);
  if (key.size() <= 4) return std::nullopt;
  return KeyBytes{core::load<u16>(key, 0).value_or(0), key.subspan(4)};
}

// Opens what a protector holds, the master key, with a key of its own.
std::optional<std::vector<std::byte>> open_protector(const BitLockerProtector& protector,
                                                     ByteView key) {
  const auto opened = unseal(key, find_datum(protector.properties, Datum::Type::encrypted_key));
  const auto master = opened ? find_key(*opened) : std::nullopt;
  if (!master) return std::nullopt;
  return std::vector<std::byte>{master->bytes.begin(), master->bytes.end()};
}

std::optional<std::vector<std::byte>> open_protector(const BitLockerProtector& protector,
                                                     const BitLockerKey& key, unsigned& left,
                                                     bool& untried) {
  if ((protector.kind & 0xFF00) != key.kind) return std::nullopt;
  if (key.id && *key.id != protector.id) return std::nullopt;
  if (key.kind == bitlocker_protector::startup_key) return open_protector(protector, key.bytes);
  const auto of_key = find_datum(protector.properties, Datum::Type::stretched_key);
  const auto salt = core::slice(of_key, 4, 16);
  if (!salt) return std::nullopt;
  if (left == 0) {
    untried = true;
    return std::nullopt;
  }
  --left;
  return open_protector(protector, stretch(key.bytes, *salt));
}

// With the master key; tells where it says that the metadata was another one.
std::optional<BitLockerVolumeKey> open_volume_key(const BitLockerMetadata& metadata,
                                                  ByteView master, core::Findings& findings) {
  const auto opened = unseal(master, metadata.volume_key);
  const auto key = opened ? find_key(*opened) : std::nullopt;
  if (!key) return std::nullopt;
  const auto check = unseal(master, find_datum(metadata.check, Datum::Type::encrypted_key));
  const auto hash = check ? find_key(*check) : std::nullopt;
  if (!hash || !std::ranges::equal(hash->bytes, metadata.hash))
    findings.warning(
        "bitlocker-metadata", metadata.volume.offset,
        "BitLocker's metadata does not match what was encrypted with the volume's own key");
  // Where the key does not say what it is for, the metadata does.
  const bool known = !encryption_name(key->method).empty();
  return BitLockerVolumeKey{
      known ? key->method : metadata.method, {key->bytes.begin(), key->bytes.end()}, 0, {}};
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Eight groups of six digits with a character between them, at the start of `text`.
bool has_groups(std::string_view text) {
  constexpr std::size_t length = 8 * 7 - 1;
  if (text.size() < length || (text.size() > length && is_digit(text[length]))) return false;
  for (std::size_t i = 0; i < length; ++i)
    if (i % 7 == 6 ? text[i] != '-' && text[i] != ' ' : !is_digit(text[i])) return false;
  return true;
}

}  // namespace

BitLockerKey bitlocker_password(std::string_view password) {
  const auto units = core::encode_utf16(password);
  return {bitlocker_protector::password, hash_of(hash_of(std::as_bytes(std::span{units})))};
}

core::Expected<BitLockerKey, unsigned> bitlocker_recovery_password(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((at > 0 && is_digit(text[at - 1])) || !has_groups(text.substr(at))) continue;
    std::array<u16, 8> parts{};
    for (unsigned group = 0; group < parts.size(); ++group) {
      unsigned number = 0;
      for (const char digit : text.substr(at + std::size_t{7} * group, 6))
        number = number * 10 + static_cast<unsigned>(digit - '0');
      if (number % 11 != 0 || number / 11 > 0xFFFF) return core::fail(group + 1);
      parts[group] = static_cast<u16>(number / 11);
    }
    return BitLockerKey{bitlocker_protector::recovery_password,
                        hash_of(std::as_bytes(std::span{parts}))};
  }
  return core::fail(0U);
}

std::optional<BitLockerKey> bitlocker_startup_key(ByteView file) {
  constexpr u64 head_size = 48;
  constexpr u64 external_head_size = 24;
  const auto head = core::Fields<head_size>::at(file, 0);
  if (!head || head->get<u32, 4>() != 1 || head->get<u32, 8>() != head_size) return std::nullopt;
  std::optional<BitLockerKey> found;
  for_each_datum(file.subspan(head_size), [&](const Datum& datum) {
    if (datum.role != Datum::Role::startup_key || datum.type != Datum::Type::external_key ||
        datum.bytes.size() < external_head_size)
      return;
    const auto key = find_key(datum.bytes.subspan(external_head_size));
    if (!key || key->bytes.size() != 32 || found) return;
    found = BitLockerKey{bitlocker_protector::startup_key, {}, core::to_guid(datum.bytes)};
    std::ranges::copy(key->bytes, found->bytes.begin());
  });
  return found;
}

std::optional<BitLockerVolumeKey> open_bitlocker(const BitLockerMetadata& metadata,
                                                 std::span<const BitLockerKey> keys,
                                                 core::Findings& findings,
                                                 unsigned most_stretched) {
  const auto& protectors = metadata.protectors;
  for (std::size_t i = 0; i < protectors.size(); ++i) {
    if ((protectors[i].kind & 0xFF00) != bitlocker_protector::clear_key) continue;
    const auto key = find_key(protectors[i].properties);
    const auto master = key ? open_protector(protectors[i], key->bytes) : std::nullopt;
    auto opened = master ? open_volume_key(metadata, *master, findings) : std::nullopt;
    if (!opened) continue;
    opened->protector = i;
    return opened;
  }
  unsigned left = most_stretched;
  std::size_t not_tried = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    bool untried = false;
    for (std::size_t i = 0; i < protectors.size(); ++i) {
      const auto master = open_protector(protectors[i], keys[k], left, untried);
      auto opened = master ? open_volume_key(metadata, *master, findings) : std::nullopt;
      if (!opened) continue;
      opened->protector = i;
      opened->key = k;
      return opened;
    }
    not_tried += untried ? 1 : 0;
  }
  if (not_tried > 0)
    findings.warning("bitlocker-key", metadata.volume.offset,
                     "{} of {} keys {} not tried, or not with each protector: no more than {} "
                     "passwords and recovery keys are tried for a volume",
                     not_tried, keys.size(), not_tried == 1 ? "was" : "were", most_stretched);
  return std::nullopt;
}

}  // namespace coldtrace::ntfs
