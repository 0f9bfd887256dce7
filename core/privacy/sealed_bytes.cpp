#include "coldtrace/privacy/sealed_bytes.hpp"

#include <algorithm>

#include <nettle/gcm.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

namespace coldtrace::privacy {
namespace {

static_assert(sealing_key_size == AES256_KEY_SIZE && seal_nonce_size == GCM_IV_SIZE &&
              seal_tag_size == GCM_DIGEST_SIZE);

const u8* bytes_of(const void* bytes) {
  return static_cast<const u8*>(bytes);
}

u8* bytes_of(void* bytes) {
  return static_cast<u8*>(bytes);
}

gcm_aes256_ctx begin(const SealingKey& key, const std::byte* nonce) {
  gcm_aes256_ctx context;
  gcm_aes256_set_key(&context, bytes_of(key.data()));
  gcm_aes256_set_iv(&context, seal_nonce_size, bytes_of(nonce));
  return context;
}

}  // namespace

u32 sealing_key_id(const SealingKey& key) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, key.size(), bytes_of(key.data()));
  std::array<u8, 4> start;
  sha256_digest(&context, start.size(), start.data());
  u32 id = 0;
  for (std::size_t i = start.size(); i-- > 0;) id = id << 8U | start[i];
  return id;
}

std::vector<std::byte> seal(const SealingKey& key,
                            const std::array<std::byte, seal_nonce_size>& nonce,
                            core::ByteView bytes) {
  std::vector<std::byte> sealed(nonce.begin(), nonce.end());
  sealed.resize(seal_nonce_size + bytes.size() + seal_tag_size);
  auto context = begin(key, nonce.data());
  gcm_aes256_encrypt(&context, bytes.size(), bytes_of(sealed.data() + seal_nonce_size),
                     bytes_of(bytes.data()));
  gcm_aes256_digest(&context, seal_tag_size,
                    bytes_of(sealed.data() + sealed.size() - seal_tag_size));
  return sealed;
}

std::optional<std::vector<std::byte>> unseal(const SealingKey& key, core::ByteView sealed) {
  if (sealed.size() < seal_nonce_size + seal_tag_size) return std::nullopt;
  const auto secret =
      sealed.subspan(seal_nonce_size, sealed.size() - seal_nonce_size - seal_tag_size);
  std::vector<std::byte> bytes(secret.size());
  auto context = begin(key, sealed.data());
  gcm_aes256_decrypt(&context, secret.size(), bytes_of(bytes.data()), bytes_of(secret.data()));
  std::array<std::byte, seal_tag_size> tag;
  gcm_aes256_digest(&context, tag.size(), bytes_of(tag.data()));
  const auto stated = sealed.last(seal_tag_size);
  if (memeql_sec(tag.data(), stated.data(), tag.size()) == 0) return std::nullopt;
  return bytes;
}

}  // namespace coldtrace::privacy
