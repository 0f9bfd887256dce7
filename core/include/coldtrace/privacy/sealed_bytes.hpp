#pragma once

#include <array>
#include <optional>
#include <vector>

#include "coldtrace/core/reader.hpp"

namespace coldtrace::privacy {

// Bytes encrypted and authenticated with AES-256-GCM (NIST SP 800-38D), without additional data: a
// nonce of 12 bytes, never used twice with the same key, the encrypted bytes, a tag of 16 bytes.
constexpr std::size_t sealing_key_size = 32;
constexpr std::size_t seal_nonce_size = 12;
constexpr std::size_t seal_tag_size = 16;

using SealingKey = std::array<std::byte, sealing_key_size>;

// A number that tells keys apart: the first four bytes, little-endian, of the key's SHA-256.
[[nodiscard]] u32 sealing_key_id(const SealingKey& key);

// Nonce, encrypted bytes and tag.
[[nodiscard]] std::vector<std::byte> seal(const SealingKey& key,
                                          const std::array<std::byte, seal_nonce_size>& nonce,
                                          core::ByteView bytes);

// Nothing if the bytes were not sealed with this key, or were changed since.
[[nodiscard]] std::optional<std::vector<std::byte>> unseal(const SealingKey& key,
                                                           core::ByteView sealed);

}  // namespace coldtrace::privacy
